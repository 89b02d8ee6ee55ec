import { randomBytes } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '#lib/config/read-config'
import { readSettingFile } from '#lib/config/setting-file'
import { deriveKeys } from './derive-keys.ts'
import { draftOf, replaceFile } from './replace-file.ts'

/**
 * Writes the keys of each service into a folder of its own. They come from the root in ROSTER_ENCRYPTION_KEY, else
 * from the root in the file. Without a root, one is made.
 */
export function writeKeys(rootFile: string, folder: string, given = readText('ROSTER_ENCRYPTION_KEY')): void {
  if (!given) makeRoot(rootFile)
  const keys = deriveKeys(given || readSettingFile(rootFile))
  // The gateway comes last: by then all others know the keys that it signs with.
  for (const [service, variables] of Object.entries(keys))
    for (const [name, value] of Object.entries(variables)) replaceFile(join(folder, service, name), `${value}\n`, 0o400)
}

function makeRoot(file: string): void {
  const draft = draftOf(file)
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o400, flush: true, flag: 'wx' })
    // A link is there whole or not at all, and never takes another's place.
    linkSync(draft, file)
    console.log(`made ${file}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

if (import.meta.main) {
  const [rootFile, folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('Usage: node deploy/compose-keys.ts <file of the root> <folder>')
  writeKeys(rootFile!, folder)
}
