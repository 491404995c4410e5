// Pages of a run that goes on.
import { rememberPlace, restorePlace } from "./place.js";

// The parts of a page that follow the run, as they came from the server; the one-file summary lacks some.
const parts = ["header.site", "main", "footer"];
export const sources = (page) => parts.map((part) => page.querySelector(part)?.outerHTML ?? "");

function swap(page, before, enhance) {
  const fresh = sources(page);
  if (fresh.every((part, i) => part === before[i])) return fresh;
  const place = rememberPlace();
  parts.forEach((part, i) => {
    if (fresh[i] !== before[i]) document.querySelector(part).replaceWith(page.querySelector(part));
  });
  if (fresh[1] !== before[1]) enhance();
  restorePlace(place);
  return fresh;
}

const clock = () => new Date().toLocaleTimeString();

// Served live, a page fetches itself and swaps what changed in place, so the reader's place stays. What it cannot fetch it says.
export function followLive(before, enhance) {
  const notice = document.getElementById("live");
  let seconds = Number(document.body.dataset.refresh ?? 0);
  if (!(seconds > 0) || !location.protocol.startsWith("http")) return;
  let tag = null;
  let good = clock();
  const say = (text) => {
    if (notice && notice.textContent !== text) notice.textContent = text;
    if (notice) notice.hidden = text === "";
  };
  const look = async () => {
    try {
      const reply = await fetch(location.href, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (reply.status !== 304 && !reply.ok) throw new Error(`it answered ${reply.status}`);
      if (reply.status !== 304) {
        tag = reply.headers.get("ETag");
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        before = swap(page, before, enhance);
        seconds = Number(page.body.dataset.refresh) || seconds;
      }
      good = clock();
      say("");
    } catch (error) {
      say(`No new state from the server of this page (${error.message}). The run has ended or was stopped, or the connection is cut: ` +
        `this is the state of ${good}. The last state is in the run's folder, report/index.html.`);
    }
    setTimeout(look, seconds * 1000);
  };
  setTimeout(look, seconds * 1000);
}
