/** The form in which names are compared: "ＡＬＩＣＥ" and "alice" are one. */
export function canonicalName(name: string): string {
  // NFKC again: lower-casing can leave a letter and its accent as two characters, where one character holds both.
  return name.normalize('NFKC').toLowerCase().normalize('NFKC')
}
