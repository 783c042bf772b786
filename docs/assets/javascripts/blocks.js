// What the theme's script leaves undone for those who use no mouse or no screen: it puts each
// block's buttons into a nameless landmark, and lets only some of the blocks that scroll take focus.
function reachable() {
  for (const buttons of document.querySelectorAll("nav.md-code__nav")) {
    buttons.setAttribute("role", "none");
  }
  for (const code of document.querySelectorAll("pre > code")) {
    if (code.scrollWidth > code.clientWidth || code.scrollHeight > code.clientHeight) {
      code.tabIndex = 0;
    }
  }
}

new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
addEventListener("load", reachable);
addEventListener("resize", reachable);
