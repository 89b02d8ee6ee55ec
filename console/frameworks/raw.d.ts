/** The text of a file, as vite imports it. */
declare module '*?raw' {
  const text: string
  export default text
}
