import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces a file. After a loss of power it has its former text or the new one, and after this call the new one. */
export function replaceFile(file: string, text: string, mode: number): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, text, { mode, flush: true })
  renameSync(draft, file)
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
