/** A table as CSV (RFC 4180), with a mark of UTF-8 for spreadsheets. */
export function csvOf(rows: string[][]): string {
  return rows.map((row) => row.map(cellOf).join(',') + '\r\n').join('')
}

// A spreadsheet takes a cell that begins so for a formula, and anybody may choose their name. The quote makes it a text.
const formula = /^[\s]*[=+\-@\t\r]/

function cellOf(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
