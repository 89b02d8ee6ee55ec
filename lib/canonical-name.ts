/** The form in which names are compared: "ＡＬＩＣＥ" and "alice" are one. */
export function canonicalName(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}
