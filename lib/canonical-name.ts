/** The form in which names are compared: "ＡＬＩＣＥ" and "alice" are one. */
export function canonicalName(name: string): string {
  // Once more: a small letter may have one character together with its accent where the capital one has two.
  return name.normalize('NFKC').toLowerCase().normalize('NFKC')
}
