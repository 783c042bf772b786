// Of a session, Copy gives what was typed: the lines with a prompt, and those that go on with one.
// The outputs may look like anything, so the text decides, not the colours.
const shell = { first: /^\$ /, next: /^> / };
const python = { first: /^>>> ?/, next: /^\.\.\. ?/ };

function typed(text, { first, next }) {
  const lines = [];
  let typing = false;
  for (const line of text.split("\n")) {
    const begins = first.test(line);
    typing = begins || (typing && (next.test(line) || lines.at(-1).endsWith("\\")));
    if (typing) lines.push(line.replace(begins ? first : next, ""));
  }
  return lines.join("\n");
}

function copyable() {
  for (const block of document.querySelectorAll(".highlight")) {
    const text = block.querySelector("pre > code")?.textContent ?? "";
    const console = block.classList.contains("language-console");
    const session = console ? shell : text.startsWith(">>> ") && python;
    if (session) block.dataset.copy = typed(text, session);
  }
}

// What the theme's script leaves undone for those who use no mouse or no screen: it puts each
// block's buttons into a nameless landmark, and lets only some of what scrolls take focus.
function reachable() {
  for (const buttons of document.querySelectorAll("nav.md-code__nav")) {
    buttons.setAttribute("role", "none");
  }
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .mermaid")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
      box.tabIndex = 0;
    }
  }
}

new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
addEventListener("load", copyable);
addEventListener("load", reachable);
addEventListener("resize", reachable);

// The note that a block was copied is read out, and stands in no other region of the page.
document.querySelector(".md-dialog").setAttribute("role", "status");
