// The server's answers, or an error with a sentence.

/** What is served: its kind, input, labels, and how it was trained. */
export const model = () => ask("/v1/model");

/** The answer to a few samples: an object becomes JSON, a form is sent as it is. */
export function predict(body, signal) {
  return ask("/v1/predict", { method: "POST", signal, ...encoded(body) });
}

/** How far two faces are apart. */
export function compare(form, signal) {
  return ask("/v1/compare", { method: "POST", signal, body: form });
}

function encoded(body) {
  if (body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

async function ask(path, how) {
  let response;
  try {
    response = await fetch(path, how);
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Error("The server does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return answer;
}

/**
 * Asks again and again with the newest question only: while an answer is on its way, questions before the last are left
 * out. Answers and errors come in order.
 */
export function latest(ask, show, fail) {
  let waiting, busy = false;
  async function next() {
    if (busy || waiting === undefined) return;
    const question = waiting;
    [waiting, busy] = [undefined, true];
    try {
      show(await ask(question));
    } catch (problem) {
      fail(problem);
    }
    busy = false;
    next();
  }
  return (question) => {
    waiting = question;
    next();
  };
}
