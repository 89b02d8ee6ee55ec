import { streamName } from '#lib/events/stream'
import { instance } from '#lib/instance'
import type { Called, Command } from '../command.ts'
import { verifyReceipt } from '../erasure/receipt.ts'
import { table } from '../output.ts'
import { textOf } from '../read-files.ts'
import { Refusal } from '../refusal.ts'
import type { System } from '../system.ts'
import { readLost } from './lost-events.ts'
import { type Taking, takings } from './takings.ts'

export const repeatRemovals: Command = {
  name: 'removals repeat',
  takes: '--token-file FILE [RECEIPTS KEYS]',
  summary: 'Removes again, after a restore, what was removed since the backup, and erases again.',
  more: [
    'It finds the removals in the stream, where that outlived the database, and in kept receipts.',
    'RECEIPTS has the receipts of DeleteUser, one on each line. KEYS is as that of `receipt`.',
    'It calls the gateway as an administrator. What is gone already is no fault.',
    'It also counts the other events that were lost: nothing repeats those, such as a changed password.',
  ],
  options: {
    'token-file': { takes: 'FILE', does: 'has the token of an administrator of the instance' },
    url: { takes: 'URL', does: 'is that of the gateway; default http://localhost:8080' },
  },
  arguments: [0, 2],
  // A standby that lags behind would seem to lack what it only has not got yet.
  needsPrimary: () => true,
  needsNats: () => true,
  run,
}

async function run({ system, output, args, options, confirm }: Called): Promise<number> {
  const call = openGateway(options)
  const receipts = await readReceipts(args)
  for (const problem of receipts.problems) output.trouble(problem)
  const lost = await readLost(system, (text) => output.progress(text))
  if (lost.count === 0) output.trouble(await limitOf(system))
  for (const [type, count] of lost.others) output.trouble(`${count} × ${type} were lost, and nothing repeats them.`)
  const all = [...lost.takings, ...receipts.takings]
  if (all.length > 0) await confirm(`${all.length} removals will be repeated.`)
  const rows: string[][] = []
  for (const taking of all) {
    const outcome = await call(taking)
    rows.push([taking.type, taking.id, outcome])
    if (output.isJson) await output.json({ type: taking.type, id: taking.id, outcome })
  }
  if (rows.length > 0) for (const line of table(['EVENT', 'OBJECT', 'OUTCOME'], rows)) output.line(line)
  return receipts.problems.length === 0 && rows.every(([, , outcome]) => isRight.has(outcome!)) ? 0 : 1
}

const isRight = new Set(['done', 'is gone'])

/** What a stream cannot know that has no event of after the backup, such as one that began empty beside the restore. */
async function limitOf(system: System): Promise<string> {
  const { created } = await (await system.jetstream()).streams.info(streamName)
  const since = new Date(created).toISOString()
  return `The stream began at ${since}, and has no event that the database lacks. What was removed before that, only receipts tell.`
}

/** Does it again, and says what became of it. */
function openGateway({ url = 'http://localhost:8080', 'token-file': file }: Called['options']) {
  if (typeof file !== 'string') throw new Refusal('--token-file names no file.')
  const authorization = `Bearer ${textOf(file).trim()}`
  return async (taking: Taking): Promise<string> => {
    const [method, request] = takings[taking.type]!(taking)
    const answer = await fetch(`${String(url)}/roster.${method}`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        // The instance is no organization that a call could act in.
        ...(taking.organizationId !== instance.id && { 'x-service-orgid': taking.organizationId }),
      },
      body: JSON.stringify(request),
    })
    if (answer.ok) return 'done'
    const { code, message } = (await answer.json()) as { code: string; message: string }
    return code === 'not_found' ? 'is gone' : `${code}: ${message}`
  }
}

interface Receipt {
  removal: { userId: string; organizationId: string; forgetAt?: string }
}

// Of a removal that could be undone, the receipt does not say whether it was.
async function readReceipts([file, keys]: string[]): Promise<{ takings: Taking[]; problems: string[] }> {
  if (file === undefined) return { takings: [], problems: [] }
  if (keys === undefined) throw new Refusal('RECEIPTS need KEYS.')
  const list = textOf(keys)
  const found: { takings: Taking[]; problems: string[] } = { takings: [], problems: [] }
  for (const [index, line] of textOf(file).split('\n').entries()) {
    if (line.trim() === '') continue
    const { removal } = ((await verifyReceipt(line, list)) ?? {}) as Partial<Receipt>
    if (!removal) found.problems.push(`${file}:${index + 1}: no key of these made this receipt.`)
    else if (removal.forgetAt !== undefined)
      found.problems.push(
        `${file}:${index + 1}: ${removal.userId} could be restored until ${removal.forgetAt}: decide.`,
      )
    else found.takings.push({ type: 'user.removed', id: removal.userId, ...removal, data: {}, state: {} })
  }
  return found
}
