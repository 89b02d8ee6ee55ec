import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkDoomed, checkForgotten, makeDoomed, removeDoomed } from './cascades.ts'
import { inflict, processOf } from './inflict.ts'
import { type Inspection, openInspection } from './inspect.ts'
import { checkReceipts, type Left, makeLeavers, removeLeavers } from './leavers.ts'
import { acknowledged, replay, startLoad } from './load.ts'
import { type Outcome, violationsOf } from './outcome.ts'
import { settlePerson, type SignedIn, type SignIns, startUses } from './people.ts'
import { nameOf, type Process, processes, type Round } from './plan.ts'
import { collectPost, type Post } from './post.ts'
import { type Readers, startReaders } from './readers.ts'
import { seeded } from './random.ts'
import { checkLeft } from './still-readable.ts'
import { deadlineMs, type Running, startRunning } from './running.ts'
import { settle } from './settle.ts'
import type { Belongings } from './writes.ts'

const before = 40
const after = 60
const writers = 6
const refreshTokens = 4
// A write that succeeded at its first attempt is replayed less often than others: once in so many.
const repeated = 10

/** Runs the rounds one after the other on one system. */
export async function runSuite(seed: number, plan: Round[], say: (line: string) => void): Promise<Outcome[]> {
  const running = await startRunning()
  const inspection = openInspection(running.servers)
  const post = collectPost(running.servers.mailbox!)
  let readers: Readers | undefined
  try {
    readers = await startReaders(running, inspection)
    const owners = await Promise.all(Array.from({ length: writers }, (_, writer) => settle(running, writer)))
    const signIns = await settlePerson(running)
    const signedIn = await signIns.signIn(refreshTokens)
    const outcomes: Outcome[] = []
    const left: Left[] = []
    for (const round of plan) {
      const outcome = await perform(running, inspection, readers, seed, round, owners, { signIns, signedIn }, left)
      outcomes.push(outcome)
      const { name, writes, retries, unanswered, errors } = outcome
      say(
        `${round.number}/${plan.length} ${name}: ${writes} writes, ${retries} retries, ${unanswered} unanswered, ${JSON.stringify(errors)}`,
      )
      for (const wrong of violationsOf(outcome)) say(`  ${wrong}`)
    }
    await judgeReaders(outcomes, readers)
    // PostgreSQL's samples, which are made anew twice a minute. And nothing may have come back since.
    outcomes.at(-1)!.violations.forgotten.push(...(await checkLeft(running, inspection, left)))
    judgePost(outcomes, seed, post, await post.check(inspection, running.url))
    return outcomes
  } finally {
    post.stop()
    await readers?.stop()
    await inspection.close()
    await running.stop()
  }
}

async function perform(
  running: Running,
  inspection: Inspection,
  readers: Readers,
  seed: number,
  round: Round,
  owners: Belongings[],
  { signIns, signedIn }: { signIns: SignIns; signedIn: SignedIn },
  allLeft: Left[],
): Promise<Outcome> {
  const { url, adminToken: token } = running
  const victims: string[] = round.faults.map(({ victim }) => victim)
  const doomed = await makeDoomed(running, `c${seed}-${round.number}`)
  const leavers = await makeLeavers(running, `${seed}-${round.number}`)
  // A killed process has a new pid and no last words. A process that ended by itself says why.
  const marks = processes.map((name) => markOf(running, name, victims))
  const load = startLoad({ urls: [url], token, seed, round: round.number, writers: owners })
  const using = startUses(signIns, signedIn)
  await acknowledged(load, before)
  // The fault comes before the removal, into its cascade, or after it.
  const removing = removeDoomed(running, doomed)
  const leaving = removeLeavers(running, leavers, seeded(seed, `leavers ${round.number}`))
  await sleep(seeded(seed, `removal ${round.number}`).between(0, 400))
  await inflict(running, round)
  await acknowledged(load, load.acknowledged + after)
  await load.stop()
  const { wrong: signedOut, refreshes, silent } = await using.stop()
  await removing
  const left = await leaving
  allLeft.push(...left)
  const ended = processes.filter((name, index) => markOf(running, name, victims) !== marks[index])

  const again = load.writes.filter(({ attempts }, index) => attempts > 1 || index % repeated === 0)
  const replayed: string[] = []
  for (const write of again) if (write.answer !== undefined) replayed.push(...(await replay({ url, token }, write)))
  const frozen = round.faults.find(({ kind, victim }) => kind === 'pause' && victim === 'gateway')?.forMs ?? 0
  const violations = {
    once: await inspection.writes(load.writes, `w${seed}-${round.number}-`),
    answer: replayed,
    sequences: await inspection.sequences(),
    stream: await inspection.stream(),
    webhook: [],
    follow: await readers.caughtUp(),
    mail: [],
    cascade: await checkDoomed(inspection, doomed),
    forgotten: [
      ...(await checkForgotten(inspection, doomed)),
      ...(await checkLeft(running, inspection, left, ['statistics'])),
    ],
    receipt: await checkReceipts(running, inspection, left),
    deadline: load.slowest > deadlineMs + 1000 + frozen ? [`a call took ${Math.round(load.slowest)} ms`] : [],
    clear: load.wrong,
    signedIn: signedOut,
    alone: ended.map((name) => `${name} ended during ${nameOf(round.faults)}: ${lastWords(processOf(running, name))}`),
  }
  return {
    round,
    name: nameOf(round.faults),
    writes: load.acknowledged,
    retries: load.retries,
    unanswered: load.unanswered,
    errors: Object.fromEntries(load.errors),
    twice: 0,
    again: 0,
    refreshes,
    silent,
    until: Date.now(),
    violations,
  }
}

// The webhook may get an event in a later round. A fault counts for the round that stored the event.
async function judgeReaders(outcomes: Outcome[], readers: Readers) {
  const { webhook, follow } = await readers.check()
  const roundOf = (at: number) => outcomes.find(({ until }) => at <= until) ?? outcomes.at(-1)!
  for (const { at, sentence } of webhook) roundOf(at).violations.webhook.push(sentence)
  for (const { at, sentence } of follow) roundOf(at).violations.follow.push(sentence)
  for (const at of readers.again) roundOf(at).again++
}

// Each address names the round that created it.
function judgePost(outcomes: Outcome[], seed: number, post: Post, wrong: Map<string, string>) {
  for (const outcome of outcomes) {
    const isOf = ([email]: [string, unknown]) => email.startsWith(`w${seed}-${outcome.round.number}-`)
    outcome.violations.mail = [...wrong].filter(isOf).map(([, sentence]) => sentence)
    outcome.twice = [...post.codes].filter(isOf).filter(([, codes]) => codes.length > 1).length
  }
}

function markOf(running: Running, name: Process, victims: string[]): string {
  const process_ = processOf(running, name)
  return victims.includes(name) ? lastWords(process_) : `${process_.pid}`
}

// The reason that a process gives for its end. Its log goes on after the restart.
function lastWords({ logFile }: { logFile: string }): string {
  const fatal = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"level":60'))
  return fatal.at(-1) ?? 'without a word'
}
