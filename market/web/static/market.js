// Copy buttons, and commands with the address that this browser sees. Everything else on the pages works without scripts.
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
// Behind a proxy the server can't know the address under which it was reached; the browser does.
document.querySelectorAll("[data-relative]").forEach((part) => {
  const { written, relative } = part.dataset, address = new URL(relative, location.href).href;
  const [code, button] = [part.querySelector("code"), part.querySelector("button")];
  code.textContent = code.textContent.replace(written, () => address);
  button.dataset.copy = button.dataset.copy.replace(written, () => address);
});
// A copy button without scripts or without a clipboard would be a lie, so they start hidden.
if (navigator.clipboard) {
  const show = (part) => part.querySelectorAll("button[data-copy][hidden]").forEach((button) => { button.hidden = false; });
  show(document);
  document.addEventListener("htmx:load", (event) => show(event.target));
}
