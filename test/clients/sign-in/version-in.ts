/** The version that a text pins a package to, such as `Flask==3.1.3` or `"express": "5.3.0"`. */
export function versionIn(text: string, name: string): string {
  const [, version] = new RegExp(`${name}[^\\d\\n]*\\n?[^\\d\\n]*(\\d+(?:\\.\\d+)+)`).exec(text) ?? []
  if (!version) throw new Error(`nothing pins ${name}`)
  return version
}
