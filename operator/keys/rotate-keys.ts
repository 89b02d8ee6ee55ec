import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readSettingFile } from '#lib/config/setting-file'
import { writeKeys } from '../../deploy/compose-keys.ts'
import { projectRoot } from '../../deploy/local/home.ts'
import { replaceFile } from '../../deploy/replace-file.ts'
import type { Called, Command } from '../command.ts'
import { Refusal } from '../refusal.ts'
import { nextStep, type Rotation } from './rotation.ts'

export const rotateKeys: Command = {
  name: 'keys rotate',
  summary: 'Takes the next step of a change of the root, from which every service has its keys.',
  more: [
    'Call it, do what it says, and call it again: it remembers the step beside the root. A change takes a day or more.',
    'It changes encryption keys and caller keys. Keys that sign tokens change by themselves (SIGNING_KEY_ROTATION).',
    'If codes live for more than a day, set EMAIL_CODE_LIFETIME here as for the service users: it waits as long.',
    'Without --root it changes the root of `npm start` on this machine. It needs no server, and no right in one.',
  ],
  options: {
    root: { takes: 'FILE', does: 'names the file of the root' },
    folder: {
      takes: 'DIR',
      does: "says where the services' keys lie, for docker compose; without it, you hand them out",
      goesWith: ['root'],
    },
    home: { takes: 'DIR', does: 'names the folder of `npm start` (.roster)', notWith: ['root'] },
  },
  arguments: [0, 0],
  isOffline: () => true,
  run,
}

const day = 86_400_000
/** For services that do not have the code's lifetime from the same environment. */
const margin = 3_600_000

async function run({ output, env, options, confirm }: Called): Promise<number> {
  const place = openRoot(options, env)
  const lifetimes = ['EMAIL_CODE_LIFETIME', 'PASSWORD_CODE_LIFETIME'].map((name) => Number(env[name]) || 0)
  const keepFor = Math.max(day, ...lifetimes.map((seconds) => seconds * 1000)) + margin
  const makeKey = () => randomBytes(32).toString('base64')
  const before = look(place)
  const step = take(() =>
    nextStep(before.root, before.rotation, new Date(), { keepFor, makeKey, isRolling: place.isRolling }),
  )
  if (step.loses)
    await confirm(
      'Data under the former key alone can no longer be decrypted. Every service must have started since the last step.',
    )
  else if (step.rotation?.step === 'used' && place.isRolling)
    await confirm('Every service must know the new key by now, so all of them must have started since the last step.')
  alone(place.file, () => {
    if (!isDeepStrictEqual(look(place), before))
      throw new Refusal('Another run took a step meanwhile. Nothing was done.')
    // Where the command ends in between, the next call sees which of the two is older.
    if (step.rotation) replaceFile(place.stateFile, `${JSON.stringify(step.rotation)}\n`, 0o600)
    place.write(step.root)
    if (!step.rotation) rmSync(place.stateFile, { force: true })
  })
  const next = place.next(step.rotation)
  if (output.isJson) await output.json({ step: step.rotation?.step ?? 'done', next })
  else for (const line of next) output.line(line)
  return 0
}

interface Place {
  /** The file that has the root. */
  file: string
  stateFile: string
  isRolling: boolean
  read(): string
  write(root: string): void
  /** What is to be done now. */
  next(rotation: Rotation | undefined): string[]
}

function look(place: Place): { root: string; rotation: Rotation | undefined } {
  return { root: place.read(), rotation: readRotation(place.stateFile) }
}

function openRoot(options: Called['options'], env: Called['env']): Place {
  const { root: file, folder, home } = options as Partial<Record<string, string>>
  if (env['ROSTER_ENCRYPTION_KEY'] || env['ROSTER_ENCRYPTION_KEY_FILE'])
    throw new Refusal('ROSTER_ENCRYPTION_KEY names the root here, so its owner changes it (docs/decisions/9).')
  return file === undefined ? ofStart(home ?? join(projectRoot, '.roster')) : ofFile(file, folder)
}

function ofFile(file: string, folder: string | undefined): Place {
  const handOut =
    folder === undefined
      ? `Hand the keys out: ROSTER_ENCRYPTION_KEY_FILE=${file} node derive-keys.mjs | kubectl apply -f -`
      : `The files of the services' keys in ${folder} are written.`
  return {
    file,
    stateFile: `${file}.rotation`,
    isRolling: true,
    read: () => take(() => readSettingFile(file)),
    write(root) {
      // The root comes last: where the command ends in between, the next call takes this step again.
      if (folder !== undefined) writeKeys(file, folder, root)
      replaceFile(file, `${root}\n`, 0o400)
    },
    next: (rotation) => [handOut, ...whatNext(rotation, 'Restart every service, one after the other.')],
  }
}

// With `npm start`, all services stop before any of them starts.
function ofStart(home: string): Place {
  const file = join(home, 'secrets.json')
  const secrets = () => take(() => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
  return {
    file,
    stateFile: join(home, 'encryption-key.rotation'),
    isRolling: false,
    read() {
      const root = secrets()['encryption-key']
      if (root === undefined) throw new Refusal(`${file} has no root: start Roster first.`)
      return root
    },
    write(root) {
      replaceFile(file, `${JSON.stringify({ ...secrets(), 'encryption-key': root }, null, 2)}\n`, 0o600)
    },
    next: (rotation) => whatNext(rotation, 'Stop npm start, and start it again.'),
  }
}

function whatNext(rotation: Rotation | undefined, restart: string): string[] {
  if (!rotation) return [restart, 'Then the former key is gone, and the change is over.']
  if (rotation.step === 'known') return [restart, 'Then call this again: the services will use the new key.']
  return [restart, 'The new key is then in use. A day later, call this again: it takes the former key away.']
}

function readRotation(file: string): Rotation | undefined {
  return existsSync(file) ? take(() => JSON.parse(readFileSync(file, 'utf8')) as Rotation) : undefined
}

function take<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Refusal((error as Error).message)
  }
}

// Two runs at once would each make a key, and hand out one that the other then forgets.
function alone(file: string, work: () => void): void {
  const lock = `${file}.lock`
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Refusal(`Another run changes the root now. If none does, because it was killed, delete ${lock}.`)
  }
  try {
    work()
  } finally {
    rmSync(lock)
  }
}
