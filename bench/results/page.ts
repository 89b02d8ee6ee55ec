import { median, sum } from '../speed/measure.ts'
import type { Row } from '../speed/report.ts'
import { type Bar, drawBars } from './picture.ts'
import type { Result } from './results.ts'

type Of<Kind extends Result['kind']> = Extract<Result, { kind: Kind }>

/** The files of docs/ that show the results, by name. */
export function drawPerformance(results: Result[]): Record<string, string> {
  const latest = <Kind extends Result['kind']>(kind: Kind) =>
    results.findLast((result): result is Of<Kind> => result.kind === kind)
  const speed = latest('speed')
  const parts = [
    ...(speed ? showSpeed(speed) : []),
    ...showMails(latest('mails')),
    ...showMemory(latest('memory')),
    ...showBytes(latest('bytes')),
    ...showBacklog(latest('backlog')),
    ...showTelemetry(latest('telemetry')),
    ...showReplicas(latest('replicas')),
    ...tries,
    ...showHistory(results.filter((result): result is Of<'speed'> => result.kind === 'speed')),
  ]
  return {
    'performance.md': `${[...introduction, ...parts].join('\n\n')}\n`,
    ...(speed && {
      'performance.svg': drawBars('CPU time of a request, by process', 'µs', speed.rows.map(processesOf)),
    }),
  }
}

const introduction = [
  '# Performance',
  'A test makes this page from the files in [bench/results](../bench/results), which `npm run bench -- --save` writes.',
  `The **bare chain** answers the same bytes: HTTP → NATS request → one INSERT, with a commit of its own. It knows no caller,
checks nothing and stores no event. Both alternate on the same servers. A machine's noise is above 5 %,
so compare within a run, and CPU time rather than rates.`,
  `The **evented chain** shows the floor of a change with events. It too knows no caller and checks nothing. But it stores
the new state and two events in one statement, answers, and then publishes both events to a stream.`,
  `The **token chain** is the evented chain for an access token: it signs a JWT, and stores its hash with one event.`,
  `The **echo chain** shows the floor of a read: HTTP → NATS request → an answer from memory, of the size of a user. It reads
no table.`,
  `The **chains of people** show the floor of a sign-in: the same requests, signatures and hash of a password; each stores a state,
its events and a token in one statement, and publishes the events. They know no browser and check nothing.`,
]

const tries = [
  '## Tries',
  `Each against the code before it, alternating in one run; ± is the standard error.

| try | brought |
| --- | --- |
| a code carries its authorization; a command decides on what its request has read; a right password is one transaction with its answer ([decision 31](decisions/31-sealed-codes.md)) | CPU time of a silent sign-in −39 ± 4 %, of a sign-in with the password −7 ± 3 %, of a refresh +2 ± 4 %, in ten pairs; statements of users 17 → 7, 51 → 25, 5 → 4. Silent is 2.30 ± 0.09 of its floor, a refresh 1.59 ± 0.07, the password 1.91 ± 0.05 |
| applications in memory for a second | nothing: silent sign-in +2 ± 3 %, refresh +6 ± 5 % in four pairs. Not kept |
| a refresh reads in three statements fewer what does not depend on each other, as the other doors do | 1.45 ± 0.03 times the CPU time of a token, in ten pairs; before, 1.55 in one run |
| the outbox reads and decrypts the next page while the stream takes one, with 1,000 events in a page instead of 500 | 10,600 events/s instead of 8,900, three rounds of each |
| a transaction waits until five milliseconds after the beginning of the last one, so that more commands share it | nothing: CPU time of SetEmail +5 ± 2 %, of Token +7 ± 3 %. Under load they share one anyway. Not kept |
| NATS 2.12 compresses the stream: \`NATS_STREAM_COMPRESSION=s2\` | blocks of 8.4 MB become 1.7 MB, so SetEmail leaves 0.3 kB in the stream instead of 1.5. Erasing 1,000 of 100,000 messages takes 15.5 s instead of 14.6 |
| a look for replicas of the former release is shared among the requests that wait for it | SetEmail asked PostgreSQL 3,532 times in a run of 26,000, one in ten of its CPU time there |
| the follower of login addresses looks at a page of changes by one statement; the ledger of the notifier gets the data of those events alone that it reads, and of all where a webhook wants one; the feed does not encode small events to learn their size | SetEmail takes 1.00 ± 0.01 times the CPU time of the code before sign-in by address (12 pairs); before, 1.15 ± 0.03 |
| the same, Node 26, and 6,000 recent events in memory instead of 2,000, where the audit chain finds them | 14,000 events/s from the outbox instead of 10,600; 60 µs of users for an event instead of 80 |
| Node 26.10 instead of 24.21 | CPU time of Token −8 ± 3 %, of SetEmail −5 ± 4 %, of GetUser +2 ± 2 %, ten pairs |
| a place of a webhook takes up to eight objects at one look, and a recorded try ends its chain | with one webhook for all events of 10,000 new people, in one run: looks take 21 s of PostgreSQL instead of 166, and everything 46 s of its CPU time instead of 118. The import itself takes 20 s in \`append\` |
| \`--max-semi-space-size=32\` instead of 16, for 28 MB more in users under load | CPU time of SetEmail −6 ± 2 % in one run of ten pairs, +1 ± 3 % in another, which had one arena of malloc besides. Not kept |
| \`--heap-growing-percent\` left out; \`--single-threaded-gc\`; \`--no-parallel-scavenge\` | −1 ± 1 %; +1 ± 3 %; −3 ± 4 %: nothing beyond the noise |
| 1,000 decrypted texts in memory instead of 4,000 | CPU time of SetEmail +2 ± 1 %. Not kept |
| one arena of malloc (\`MALLOC_ARENA_MAX=1\`) | 30 MB less of all services, the same CPU time within 4 % |
| found_addresses without its index of trigrams, measured by calling \`append\` | 25 of the 100 µs that PostgreSQL spends on a SetEmail there, but then a search for a part of an address reads all of them. Without delayed insertion (\`fastupdate\`), 90 µs more |
| the size of a payload is read from its row, not from its text, where the outbox reads a page | nothing that could be measured |
| the statement that loads aggregates hides the length of its arrays from the planner, so PostgreSQL uses a generic plan. Before, 38,000 of 46,000 loads got a custom plan: 160 µs of planning for 50 µs of execution | with one connection, PostgreSQL spends 182 µs on a GetUser instead of 301. With 64, which share loads, nothing that could be measured |
| loads of the same moment read each aggregate once; userinfo takes the user that its judgement has read | CPU time of UserInfo −25 ± 2 % (ten pairs), of Refresh −5 ± 1 % (six pairs) |
| the writes of a batch are grouped by kind, so its statement has one of a few texts, and its prepared statement is reused; an authorization code is stored by the statement of its event; surplus authorizations are ended together; the signing key of ID tokens is imported once | CPU time of CodeFlow −16 ± 4 % (six pairs) |
| \`--always-sparkplug\`, with one connection | CPU time of SetEmail −2 ± 5 %, of GetUser −5 ± 9 %, of UserInfo +6 ± 8 %. Not kept |
| what a sign-in takes from a rate limit, what it gives back, and a new browser, are committed without a wait for the WAL, since the commit that follows waits for all before it: a sign-in with a password waits four times instead of seven, \`prompt=none\` once instead of twice | where each wait takes 5 ms more (\`commit_delay\`), the authorization request 10 ms instead of 16, its password 48 instead of 59, \`prompt=none\` 13 instead of 19 (medians, two runs alike). On this disk nothing: CPU time of CodeFlow +1 ± 3 %, eight pairs |
| all of these together, beside the code of the day before, without sign-in by address (1b29fd0c), on the same Node and driver | CPU time of SetEmail −6 ± 4 %, of AddMachineUser +1 ± 3 %, of GetUser +1 ± 4 %, of Token +3 ± 3 % (ten pairs). In that run the shares of the bare chain were 0.49, 0.43, 1.51 and 0.42, of the evented chain 0.67, of the token chain 0.66, of the echo chain 2.53 |`,
]

function showSpeed({ commit, beside, time, machine, rows }: Of<'speed'>): string[] {
  const lines = rows.map((row) => [
    row.name,
    row.rate.toFixed(0),
    row.ofBare.toFixed(2),
    row.p50.toFixed(1),
    row.p99.toFixed(1),
    costOf(row).toFixed(0),
  ])
  return [
    '## Requests',
    `Commit ${commit}${beside ? `, beside commit ${beside}` : ''}, ${time.slice(0, 10)}; ${Object.entries(machine)
      .map(([name, fact]) => `${name} ${fact}`)
      .join(', ')}.`,
    table([['', 'requests/s', 'of the bare chain', 'p50 ms', 'p99 ms', 'CPU µs of all processes'], ...lines]),
    '![CPU time of a request, by process](performance.svg)',
    table([
      ['CPU µs', ...rows.map(({ name }) => name)],
      ...Object.keys(rows[0]!.cpu).map((process_) => [process_, ...rows.map(({ cpu }) => cpu[process_]!.toFixed(0))]),
    ]),
  ]
}

function showMails(mails: Of<'mails'> | undefined): string[] {
  if (!mails) return []
  const { commit, idle, steady, drained, bare, alone } = mails
  const processes = Object.keys(drained.cpu)
  const costs = [drained, bare, alone].map(({ cpu }) => processes.map((name) => cpu[name]?.toFixed(0) ?? ''))
  return [
    '## Mails',
    `From the request to the mail server, which takes each mail at once. Commit ${commit}.`,
    table([
      ['', 'p50 ms', 'p99 ms'],
      ['one mail alone', idle.p50.toFixed(1), idle.p99.toFixed(1)],
      ['500 mails a second', steady.p50.toFixed(1), steady.p99.toFixed(1)],
    ]),
    `The rate of one notifier that works on a backlog of 5,000 mails. The **bare mail chain** shows the floor: BullMQ with
one job for each mail, and the pool of connections that Roster sends by. It asks no service, writes no mail, and
records no end. Its connections alone need no queue. Both have as many places as the notifier. All processes share the
machine's processors, so a rate shows what the machine can do, and CPU time what a notifier can.`,
    table([
      ['', 'mails/s', ...processes.map((name) => `${name} CPU µs`)],
      ['a backlog', drained.rate.toFixed(0), ...costs[0]!],
      ['bare mail chain', bare.rate.toFixed(0), ...costs[1]!],
      ['its connections alone', alone.rate.toFixed(0), ...costs[2]!],
    ]),
  ]
}

function showMemory(result: Of<'memory'> | undefined): string[] {
  if (!result) return []
  const { commit, starts, idle, busy } = result
  const shown = (kind: 'rss' | 'pss', table: Of<'memory'>['idle']) => [
    ...Object.values(table).map((memory) => memory[kind].toFixed(0)),
    sum(Object.values(table).map((memory) => memory[kind])).toFixed(0),
  ]
  return [
    '## Memory and start',
    `Commit ${commit}. \`npm start\` is ready after ${starts.cold} s without data, and after ${starts.warm} s with data.`,
    'RSS counts the pages that processes share once for each. PSS divides them.',
    table([
      ['MB', ...Object.keys(idle), 'together'],
      ['RSS without calls', ...shown('rss', idle)],
      ['PSS without calls', ...shown('pss', idle)],
      ['highest RSS under load', ...shown('rss', busy)],
    ]),
  ]
}

function showBytes(result: Of<'bytes'> | undefined): string[] {
  if (!result) return []
  const { commit, requests, user } = result
  const all = { ...requests, [`a user with three grants, of ${user.number}`]: user }
  const lines = Object.entries(all).map(([name, { tables, rows, wal, stream }]) => [
    name,
    sum(Object.values(tables)).toFixed(0),
    sum(Object.values(rows)).toFixed(1),
    wal.toFixed(0),
    stream.toFixed(0),
  ])
  return [
    '## Bytes',
    `Commit ${commit}. What one of each leaves behind: in the tables of PostgreSQL with their indexes, after a vacuum; in its
WAL, where no checkpoint makes it write whole pages again; and in the stream, for 30 days. CodeFlow is a code, and then
its redemption: two requests, of which the numbers are the mean.`,
    table([['', 'bytes in tables', 'rows', 'bytes of WAL', 'bytes in the stream'], ...lines]),
  ]
}

function showBacklog(result: Of<'backlog'> | undefined): string[] {
  if (!result) return []
  const { commit, events, rates, cpu } = result
  const shown = Object.entries(cpu).filter(([, cost]) => cost >= 0.5)
  return [
    '## Events a second',
    `Commit ${commit}. The outbox of users publishes ${events} events of as many new users that waited.`,
    table([
      ['events/s', ...shown.map(([name]) => `${name} CPU µs`)],
      [median(rates).toFixed(0), ...shown.map(([, cost]) => cost.toFixed(1))],
    ]),
  ]
}

function showTelemetry(result: Of<'telemetry'> | undefined): string[] {
  if (!result) return []
  const names = Object.keys(result.prices[0]!.cpu)
  const lines = result.prices.map(({ name, off, on, price, error, cpu }) => [
    name,
    off.toFixed(0),
    on.toFixed(0),
    `${price.toFixed(1)} ± ${error.toFixed(1)} %`,
    ...names.map((process_) => (cpu[process_]!.on - cpu[process_]!.off).toFixed(1)),
  ])
  return [
    '## Telemetry',
    `Commit ${result.commit}. Metrics and 1 % of all traces, sent to a collector. The price is CPU time of all processes. One system
switches it on and off every quarter of a second, since two systems of the same code differ by more than the price.
After ± stands the standard error.`,
    table([['', 'CPU µs without', 'with', 'price', ...names.map((process_) => `${process_} CPU µs more`)], ...lines]),
  ]
}

function showReplicas(result: Of<'replicas'> | undefined): string[] {
  if (!result) return []
  const lines = result.rows.map(({ name, replicas, rate, cpu }) => [
    name,
    String(replicas),
    rate.toFixed(0),
    cpu.toFixed(0),
  ])
  return [
    '## More processes',
    `Commit ${result.commit}. All processes share the machine's processors.`,
    table([['', 'processes of users, and of the gateway', 'requests/s', 'CPU µs of all processes'], ...lines]),
  ]
}

function showHistory(speeds: Of<'speed'>[]): string[] {
  const shown = ['SetEmail json', 'SetEmail grpc', 'GetUser json', 'AddMachineUser json', 'Token json']
  const lines = speeds.map(({ time, commit, rows }) => [
    time.slice(0, 10),
    commit,
    ...shown.map((name) => {
      const row = rows.find((row) => row.name === name)
      return row ? `${row.ofBare.toFixed(2)}, ${costOf(row).toFixed(0)} µs` : ''
    }),
  ])
  return [
    '## History',
    `Rate as a share of the bare chain, and CPU time. Up to 54b2f533 the shares are too high, as is the CPU time of the
bare chain under More processes: the bare chain got slower with each statement (516 µs instead of 360 in the last of these runs). That was a [fault of the driver](decisions/7-patched-driver.md).`,
    table([['', 'commit', ...shown], ...lines]),
  ]
}

function processesOf({ name, cpu }: Row): Bar {
  return { name, segments: Object.fromEntries(Object.entries(cpu).filter(([, cost]) => cost >= 0.5)) }
}

function costOf({ cpu }: Row): number {
  return sum(Object.values(cpu))
}

function table([head, ...lines]: string[][]): string {
  const rule = head!.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head!, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
