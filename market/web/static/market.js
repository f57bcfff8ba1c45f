// Copy buttons. Everything else on the pages works without scripts.
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy it";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1600);
});
// A copy button without scripts or without a clipboard would be a lie, so they start hidden.
if (navigator.clipboard) {
  const show = (part) => part.querySelectorAll("button[data-copy][hidden]").forEach((button) => { button.hidden = false; });
  show(document);
  document.addEventListener("htmx:load", (event) => show(event.target));
}
