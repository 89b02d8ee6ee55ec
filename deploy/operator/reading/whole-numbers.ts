/** Whether JavaScript holds every number of this text, which is JSON as PostgreSQL writes `jsonb`. */
export function hasWholeNumbers(text: string): boolean {
  // Fifteen digits always fit. A text in it may look like a number, so what follows asks once more.
  if (!/(?:^|[ [])-?(?:\d{16}|\d+\.)/.test(text)) return true
  let isWhole = true
  parse(text, (_, value, { source }) => {
    if (typeof value === 'number' && plain(value) !== source) isWhole = false
    return null
  })
  return isWhole
}

// The types of the language do not know the third argument.
const parse = JSON.parse as (
  text: string,
  reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
) => unknown

// The number without an exponent. PostgreSQL knows no other spelling, and keeps the digits that a service wrote.
function plain(value: number): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(JSON.stringify(value)) ?? []
  const [digits, places] = [`${whole}${fraction}`, Number(exponent)]
  if (places > 0) return `${sign}${digits.padEnd(places + 1, '0')}`
  if (places < 0) return `${sign}0.${'0'.repeat(-places - 1)}${digits}`
  return JSON.stringify(value)
}
