// The server's answers, or an error with a sentence.

// How often a busy server is asked again, and the longest wait between.
const MOST_TRIES = 4;
const LONGEST_WAIT_MS = 5000;

/** What is served: its kind, input, labels, and how it was trained. */
export const model = () => ask("/v1/model");

/** The answer to numbers or texts. */
export function predict(question) {
  return ask("/v1/predict", { method: "POST", body: JSON.stringify(question), headers: { "content-type": "application/json" } });
}

/** The answer to a picture. */
export const predictPicture = (file) => ask("/v1/predict", { method: "POST", body: form([file]) });

/** How far two faces are apart. */
export const compare = (one, other) => ask("/v1/compare", { method: "POST", body: form([one, other]) });

function form(files) {
  const made = new FormData();
  files.forEach((file) => made.append("file", file));
  return made;
}

async function ask(path, how, tries = 1) {
  let response;
  try {
    response = await fetch(path, how);
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  if (response.status === 429 && tries < MOST_TRIES) {
    const wait = 1000 * (Number(response.headers.get("retry-after")) || 1);
    await new Promise((done) => setTimeout(done, Math.min(wait, LONGEST_WAIT_MS)));
    return ask(path, how, tries + 1);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return answer;
}

/**
 * Asks with the newest question only: while an answer is on its way, questions before the last are left out. So a page
 * is as quick as its server, and answers come in order.
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
