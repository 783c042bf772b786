// The theme draws each diagram into a shadow tree, where no style sheet of the page reaches. So what
// the guide wants of its diagrams goes through mermaid itself, before the theme calls it.
{
  const { initialize, render } = mermaid;
  // Smaller than this, the labels could not be read on a phone. There, the diagram scrolls sideways.
  const readable = "30rem";
  const style = ".actor-line{stroke:var(--md-default-fg-color--lighter)}";

  mermaid.initialize = (options) =>
    initialize({ ...options, themeCSS: (options.themeCSS ?? "") + style });
  mermaid.render = async (...drawing) => {
    const drawn = await render(...drawing);
    return { ...drawn, svg: drawn.svg.replace("max-width", `min-width: ${readable}; max-width`) };
  };
}
