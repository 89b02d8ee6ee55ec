import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bundle } from '../deploy/bundle/bundle.ts'
import { freePort } from '../deploy/local/ports.ts'
import { startServers, type Servers } from '../deploy/local/servers.ts'
import { startServices, type Services } from '../deploy/local/services.ts'
import { provision, storingServices, type StoringService } from '../deploy/provision.ts'
import { type ReceivedSpan, startTestCollector, type TestCollector } from './support/collector.ts'
import { isRenewing } from './support/expect-part.ts'
import { startTestReceiver, type TestReceiver } from './support/receiver.ts'
import { linesOfPicture, pictureOf } from './support/span-picture.ts'
import { type Branch, linesOf, treeOf } from './support/span-tree.ts'

// The bundles, so that the file which they share for telemetry is there and works.
const folder = mkdtempSync(join(tmpdir(), 'roster-traces-'))
let servers: Servers
let services: Services
let collector: TestCollector
let receiver: TestReceiver
let token: string

beforeAll(async () => {
  ;[servers, collector, receiver] = await Promise.all([
    startServers({ ephemeral: true, ports: 'random', say: () => {} }),
    startTestCollector(),
    startTestReceiver(),
    bundle(join(folder, 'bundle')),
  ])
  const passwords = storingServices.map((service) => [service, servers.home.secret(`postgres-${service}`)])
  services = await startServices(servers, {
    databaseUrls: await provision(servers.databaseUrl, Object.fromEntries(passwords) as Record<StoringService, string>),
    port: await freePort(0),
    adminTokenFile: join(folder, 'admin-token'),
    encryptionKey: servers.home.key('encryption-key'),
    entry: (name) => join(folder, 'bundle', `${name}.mjs`),
    say: () => {},
    env: {
      ...process.env,
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  })
  token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
}, 120_000)
afterAll(async () => {
  await services?.stop()
  await Promise.all([servers?.stop(), collector?.stop(), receiver?.stop()])
  rmSync(folder, { recursive: true, force: true })
})

const soon = { timeout: 30_000, interval: 50 }
const hostile = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const [first, second] = ['first.grace@example.com', 'second.grace@example.com']
const person = { userName: 'gracie', profile: { firstName: 'Gracielle', lastName: 'Hopperman' } }
const requested = 'roster.user.email.code.requested.v1'
const sent = 'roster.user.email.code.sent.v1'

async function call(path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(services.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, any>
}

/** Changes an address, and waits until the webhook heard that the mail was sent. */
async function changeAddress() {
  await call('/management/v1/webhooks', { url: `${receiver.url}?key=of-the-receiver`, eventTypes: [requested, sent] })
  const { userId } = await call('/v2/users/human', { ...person, email: { email: first } })
  // What is still under way of another trace could share a transaction with this one.
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), soon)
  const traceparent = `00-${hostile.traceId}-${hostile.spanId}-01`
  await call(`/v2/users/${userId}/email`, { email: second }, { traceparent })
  await vi.waitFor(() => expect(receiver.received).toHaveLength(4), soon)
  return { userId: userId as string, webhooks: receiver.received.slice(2) }
}

const rootName = 'POST /v2/users/{user_id}/email'
// The gateway asks for the caller at times, and remembers it at others.
const aboutCaller = /InternalService\/(Authenticate|ListMemberships)/
function treeOfChange(): Branch {
  const [tree = expect.fail('no trace yet'), ...others] = treeOf(traceOf(collector.spans))
  expect(others).toEqual([])
  return { ...tree, below: tree.below.filter(({ span }) => !aboutCaller.test(span.name)) }
}
const rootOf = (spans: ReceivedSpan[]) => spans.find(({ name }) => name === rootName)
const traceOf = (spans: ReceivedSpan[]) => spans.filter(({ traceId }) => traceId === rootOf(spans)?.traceId)

test('a changed address is one trace: from the request to the answers of the mail server and of a webhook', async () => {
  const { userId, webhooks } = await changeAddress()
  await vi.waitFor(() => expect(linesOf([treeOfChange()])).toEqual(expected), soon)
  const spans = traceOf(collector.spans)
  if (isRenewing()) writeFileSync(picture, pictureOf(treeOfChange()))

  // A caller that is not trusted is linked, and decides nothing.
  expect(rootOf(spans)!.traceId).not.toBe(hostile.traceId)
  expect(rootOf(spans)!.links).toEqual([hostile])

  // The receiver can go on with the trace: of its request, and of the event.
  const deliveries = spans.filter(({ name }) => name === 'POST')
  expect(new Set(webhooks.map(({ event }) => event.type))).toEqual(new Set([requested, sent]))
  const traceparentOf = ({ traceId, spanId }: ReceivedSpan) => `00-${traceId}-${spanId}-01`
  expect(new Set(webhooks.map(({ headers }) => headers['traceparent']))).toEqual(new Set(deliveries.map(traceparentOf)))
  const executed = spans.filter(({ name }) => name === 'execute command').map(traceparentOf)
  expect(new Set(webhooks.map(({ event }) => event.traceparent))).toEqual(new Set(executed))

  // The event API gives the same.
  const { events } = await call('/admin/v1/events/_search', {
    filter: { aggregateIds: [userId], eventTypes: [requested] },
  })
  expect(events.at(-1).traceparent).toBe(webhooks.find(({ event }) => event.type === requested)!.event.traceparent)

  // A line of the log leads to the trace.
  const line = readFileSync(services.handles.gateway.logFile, 'utf8')
    .split('\n')
    .find((text) => text.includes('SetEmail'))
  expect(JSON.parse(line!)).toMatchObject({ trace_id: rootOf(spans)!.traceId, span_id: rootOf(spans)!.spanId })

  // Nothing that the collector was ever given is personal.
  const mail = await (await fetch(`${servers.mailboxUrl}/view/latest.txt?query=to:${second}`)).text()
  const [code] = /\b[A-Z0-9]{6}\b/.exec(mail) ?? expect.fail(mail)
  const given = collector.bytes().toString('latin1')
  expect(given).toContain(rootName)
  const secrets = [first, second, 'example.com', 'Gracielle', 'Hopperman', 'gracie', token, code, userId]
  for (const secret of [...secrets, 'of-the-receiver']) expect(given).not.toContain(secret)
})

test('the picture of docs/telemetry.md shows this trace', () => {
  const withoutKinds = expected.map((line) => line.replace(/\[\w+, /, '['))
  expect(pathsOf(linesOfPicture(readFileSync(picture, 'utf8')))).toEqual(pathsOf(withoutKinds))
})

/** Each line with those above it. The order of siblings changes from run to run, so it does not count. */
function pathsOf(lines: string[]): string[] {
  const path: string[] = []
  const paths = lines.map((line) => {
    path.splice(line.search(/\S/) / 2, Infinity, line.trim())
    return path.join(' > ')
  })
  return paths.toSorted()
}

const picture = join(import.meta.dirname, '../docs/trace.svg')

const expected = `
POST /v2/users/{user_id}/email [server, gateway]
  roster.users.v1.UserService/SetEmail [client, gateway]
    roster.users.v1.UserService/SetEmail [server, users]
      execute command [internal, users]
        POST [client, notifier]
        process roster.events [consumer, notifier]
          process email-codes [consumer, notifier]
            SMTP send [client, notifier]
            record mail [internal, users]
              execute command [internal, users]
                POST [client, notifier]
                publish roster.events [producer, users]
                store batch [internal, users]
                  SELECT aggregates [client, users]
                  SELECT append [client, users]
                  decide [internal, users]
                take in events [consumer, notifier]
            share call [internal, notifier]
              roster.users.v1.InternalService/GetEmailCode [client, notifier]
                roster.users.v1.InternalService/GetEmailCode [server, users]
                  SELECT aggregates [client, users]
                  SELECT aggregates [client, users]
                  SELECT aggregates [client, users]
            share call [internal, notifier]
              roster.users.v1.InternalService/RecordEmailCode [client, notifier]
                roster.users.v1.InternalService/RecordEmailCode [server, users]
          send email-codes [producer, notifier]
        publish roster.events [producer, users]
        publish roster.events [producer, users]
        store batch [internal, users]
          SELECT aggregates [client, users]
          SELECT append [client, users]
          decide [internal, users]
        take in events [consumer, notifier]
`
  .trim()
  .split('\n')
