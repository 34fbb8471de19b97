-- For wrk: uploads one picture after another as forms. `wrk … -s upload.lua URL -- BODIES CONTENT_TYPE`.
-- BODIES holds, for each body, a line with its length and then the body. The last line printed is JSON.

local requests, at = {}, 0

function init(args)
    local file = assert(io.open(args[1], "rb"))
    local headers = { ["Content-Type"] = args[2], ["Accept"] = "application/json" }
    for line in function() return file:read("*l") end do
        requests[#requests + 1] = wrk.format("POST", nil, headers, file:read(tonumber(line)))
    end
    file:close()
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests": %d, "seconds": %.6f, "p50": %.6f, "p99": %.6f, "max": %.6f, "broken": %d, "timeouts": %d, "refused": %d}\n',
        summary.requests, summary.duration / 1e6,
        latency:percentile(50) / 1e6, latency:percentile(99) / 1e6, latency.max / 1e6,
        errors.connect + errors.read + errors.write, errors.timeout, errors.status))
end
