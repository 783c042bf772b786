// What the theme's script leaves undone for those who use no mouse or no screen: it puts each
// block's buttons into a nameless landmark, and lets only some of what scrolls take focus.
function reachable() {
  for (const buttons of document.querySelectorAll("nav.md-code__nav")) {
    buttons.setAttribute("role", "none");
  }
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
      box.tabIndex = 0;
    }
  }
}

new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
addEventListener("load", reachable);
addEventListener("resize", reachable);
