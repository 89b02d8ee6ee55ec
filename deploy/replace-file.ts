import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces a file. After a loss of power it has its former text or the new one, and after this call the new one. */
export function replaceFile(file: string, text: string, mode: number): void {
  const draft = draftOf(file)
  try {
    writeFileSync(draft, text, { mode, flush: true, flag: 'wx' })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** The name of a file that becomes this one. In a container each process has the same id, so that is no name. */
export function draftOf(file: string): string {
  return `${file}.${randomBytes(8).toString('hex')}.new`
}
