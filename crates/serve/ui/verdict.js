// The answer in large letters, with how sure the model is; or a hint, or what went wrong.

import { element, say } from "./dom.js";

/** What to put on the page, and three ways to fill it. */
export function verdict(hint) {
  const what = element("strong", { class: "what" });
  const sure = element("span", { class: "sure" });
  const part = element("p", { class: "verdict" }, what, " ", sure);

  function put(state, answer, more) {
    part.dataset.state = state;
    what.textContent = answer;
    sure.textContent = more;
  }

  function tell(answer, more) {
    put("told", answer, more);
    say(`${answer}, ${more}`);
  }

  function fail(sentence) {
    put("failed", "", sentence);
    say(sentence);
  }

  const clear = (sentence = hint) => put("empty", "", sentence);
  clear();
  return { part, tell, fail, clear };
}
