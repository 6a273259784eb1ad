// A page with the hook useChat of the SDK, as applications have it.
import { build } from "esbuild";

let made;

// page returns the page. Its script is built when it is first asked for.
export async function page() {
  made ??= build({ entryPoints: [new URL("chat.jsx", import.meta.url).pathname], bundle: true, write: false, jsx: "automatic", minify: true, define: { "process.env.NODE_ENV": '"production"' } });
  const { outputFiles } = await made;
  return `<!doctype html><html lang="en"><title>Chat</title><main id="root"></main><script>${outputFiles[0].text.replaceAll("</script", "<\\/script")}</script></html>`;
}
