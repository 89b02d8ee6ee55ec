import { visible } from '../compat/zitadel/migration/shown.ts'
import type { Terminal } from './terminal.ts'

/** Where a command writes. Results go to the standard output; progress goes to the standard error. */
export interface Output {
  isJson: boolean
  /** A line for people; nothing with --json. What a stranger wrote cannot steer the terminal. */
  line(text?: string): void
  /** A line in JSON. */
  json(value: unknown): Promise<void>
  progress(text: string): void
  /** A line of trouble for people, also with --json. */
  trouble(text: string): void
  /** Removes the progress from the terminal. */
  clear(): void
}

const everyMilliseconds = { terminal: 200, file: 10_000 }

/** Writes to this terminal. */
export function openOutput({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>, isJson: boolean): Output {
  const { isTTY } = stderr
  let next = 0
  let isShown = false
  const clear = () => {
    if (isShown) stderr.write('\r\u001B[K')
    isShown = false
  }
  return {
    isJson,
    line(text = '') {
      clear()
      if (!isJson) stdout.write(`${visible(text)}\n`)
    },
    // Waits for a reader that is slower.
    json: (value) =>
      new Promise((resolve, reject) => {
        stdout.write(`${JSON.stringify(value)}\n`, (error) => (error ? reject(error) : resolve()))
      }),
    progress(text) {
      if (Date.now() < next) return
      next = Date.now() + (isTTY ? everyMilliseconds.terminal : everyMilliseconds.file)
      clear()
      isShown = isTTY === true
      stderr.write(visible(text) + (isTTY ? '' : '\n'))
    },
    trouble(text) {
      clear()
      stderr.write(`${visible(text)}\n`)
    },
    clear,
  }
}

/** Rows in columns, under a row of headings. Long cells are cut. */
export function table(headings: string[], rows: (string | number)[][]): string[] {
  const all = [headings, ...rows.map((row) => row.map((text) => cell(String(text))))]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}

const longestCell = 200

function cell(text: string): string {
  const shown = visible(text)
  return shown.length > longestCell ? `${shown.slice(0, longestCell - 1)}…` : shown
}
