// j / k walk through the turns of a trajectory.
export function turnKeys() {
  const turns = [...document.querySelectorAll("section.turn")];
  if (turns.length === 0) return;
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
    if (step === 0) return;
    const at = turns.findIndex((turn) => turn.getBoundingClientRect().top > 8);
    const current = at < 0 ? turns.length : at;
    const next = Math.min(Math.max(step > 0 ? current : current - 2, 0), turns.length - 1);
    turns[next].scrollIntoView({ block: "start" });
  });
}
