/** What is said of the mistakes at one endpoint: a table of docs/mistakes.md. */
export interface MistakesTable {
  /** Above what `tell` returns. The first column of all tables is what was sent. */
  columns: string[]
  /** What was sent, in words. */
  mistakes: string[]
  /** Sends it, and returns the rest of the row. What differs from run to run has a name in it, such as CLIENT. */
  tell(mistake: string): Promise<string[]>
}

/** The table as it stands in the document. */
export function writeTable({ columns }: Pick<MistakesTable, 'columns'>, rows: string[][]): string {
  const lines = [['Sent', ...columns], ['', ...columns].map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim() || '–'
}

/** Names what differs from run to run: `names` has it by the name that stands in the document. */
export function named(text: string, names: Record<string, string>): string {
  return Object.entries(names).reduce((before, [name, value]) => before.replaceAll(value, name), text)
}
