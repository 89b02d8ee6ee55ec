import { type Message, toBinary } from '@bufbuild/protobuf'
import { type MsgHdrs, NatsError, type ServiceMsg } from 'nats'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { BriefMap } from '../brief-map.ts'
import { countLimit } from '../limits-hit.ts'
import type { Log } from '../log.ts'
import { addMicroService } from './micro-service.ts'
import { flushed, type Nats, natsHeaders } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { type Answers, type Once, onceId } from './idempotency.ts'
import { encodeStatus } from '../status.ts'
import type { MethodDefinition, ServiceDefinition } from './call.ts'
import { deadlineExceeded, invalid, renameFields, RosterError, toRosterError, type Violation } from '../errors.ts'
import { takeAliases } from './aliases.ts'
import { authorize, type FindOwner } from './authorize.ts'
import { measureCall, oldest, underWay as requests } from './measures.ts'
import type { RolesThere } from './caller.ts'
import { type Call, readHeaders, requestIdOf } from './headers.ts'
import { type Method, method } from './methods.ts'
import { type Presence, showPresence } from './presence.ts'
import { type Span, annotate } from '../telemetry/tracing.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { describeAnswer, traceRequest } from './spans.ts'
import { endOfTick } from './tick.ts'
import type { ReadCaller } from './signatures/verify-callers.ts'
import { orMalformed, parse, validate } from './validate.ts'

/** Answers a method. Throws RosterError; any other error becomes INTERNAL. */
export type Handle<Context, Request, Response> = (context: Context, request: Request, call: Call) => Promise<Response>

/** An operation: its handler, and checks before it that the contract does not declare. */
export type Operation<Context, Request, Response> =
  | Handle<Context, Request, Response>
  | {
      /** Throws PERMISSION_DENIED. Runs after the check of the declared permission and before validation. */
      permit?: (request: Request, call: Call, holdsPermission: boolean, context: Context) => void | Promise<void>
      /** Violations of rules that the contract does not declare. The caller gets all violations together. */
      check?: (
        context: Context,
        request: Request,
        call: Call,
        holdsPermission: boolean,
      ) => Violation[] | Promise<Violation[]>
      /** Whether an Idempotency-Key has no effect on this request. */
      ignoresKey?: (request: Request) => boolean
      /**
       * Checks, beside the Idempotency-Key, whether an earlier answer may be given again. Throws like `handle`. May
       * give a function, which runs once the earlier request is found to be the same one and to have succeeded.
       */
      beforeReplay?: (context: Context, request: Request, call: Call) => Promise<void | (() => Promise<void>)>
      handle: Handle<Context, Request, Response>
    }

/** One operation for each method of the definition. A missing one does not compile. */
export type Operations<S extends ServiceDefinition, Context> = {
  [M in keyof S['methods']]: S['methods'][M] extends MethodDefinition<infer Request, infer Response>
    ? Operation<Context, Request, Response>
    : never
}

/** A service definition with the operations that answer it. */
export interface Served<Context> {
  definition: ServiceDefinition
  operations: Record<string, AnyOperation<Context>>
}

// Each operation has its own request and response. `Operations` ties them to the definition.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyOperation<Context> = Operation<Context, any, any>

/** Pairs a definition with its operations. */
export function served<S extends ServiceDefinition, Context>(
  definition: S,
  operations: Operations<S, Context>,
): Served<Context> {
  return { definition, operations: operations as Record<string, AnyOperation<Context>> }
}

export interface ServeOptions<Context> {
  /** Name of the NATS micro service and of its queue group. */
  name: string
  nats: Nats
  log: Log
  context: Context
  services: Served<Context>[]
  /** By the request field that an access option with SCOPE_RESOURCE names. */
  owners?: Record<string, FindOwner<Context>>
  /** Finds what a user holds in an organization. Without it, callers have no roles but those that they come with. */
  rolesThere?: (context: Context, userId: string, organizationId: string) => Promise<RolesThere>
  /** Reads the caller of a request. */
  readCaller: ReadCaller
  /** The number of the service's events that were refused for good. Default: none. */
  deadLetters?: () => number
  /** Whether the stream has events that the service's database lacks. */
  streamIsAhead?: () => boolean
  /** The error of every call, while the service can answer none. */
  refusal?: () => RosterError | undefined
  /** Whether the service sends nothing out. */
  isDrill?: boolean
  /** Throws while a replica of the former release runs, for which new methods wait. */
  refuseBesideFormer?: () => Promise<void>
  /** Keeps the answers to requests with an Idempotency-Key. Without it, the key has no effect. */
  answers?: Answers
}

/** Answers the methods of the services over NATS. When it is stopped, it finishes the requests under way. */
export async function serve<Context>(options: ServeOptions<Context>): Promise<Service> {
  const { connection } = options.nats
  const service = await addMicroService(options.nats, options.name, {
    deadLetters: options.deadLetters ?? (() => 0),
    streamIsAhead: options.streamIsAhead ?? (() => false),
    refuses: () => options.refusal?.() !== undefined,
    isDrill: options.isDrill ?? false,
  })
  // Each with the time of its arrival, on the clock of `performance`.
  const underWay = new BriefMap<Promise<void>, number>()
  const unwatch = [
    requests.watch(() => underWay.size),
    oldest.watch(() => (performance.now() - (underWay.values().next().value ?? performance.now())) / 1000),
  ]
  const presence: Presence[] = []
  for (const { definition, operations } of options.services) {
    for (const [name, definitionOfMethod] of Object.entries(definition.methods)) {
      const declared = method(`${definition.fullName}.${definitionOfMethod.name}`)
      const operation = operations[name]!
      presence.push(showPresence(options.nats, declared.subject))
      const answer = prepare(options, declared, definitionOfMethod, operation)
      service.addEndpoint(declared.subject.replaceAll('.', '-'), {
        subject: declared.subject,
        handler(error, message) {
          if (error) return options.log.error({ err: error }, 'a NATS subscription failed')
          // A real caller waits on a reply inbox; for a caller in another account, that is the broker's `_R_`. A
          // message without one was injected through JetStream, headers included; refuse it. An answer to it would
          // acknowledge a message there.
          if (!/^_(INBOX|R_)[._]/.test(message.reply ?? ''))
            return options.log.error({ method: declared.subject }, 'a message that is no call was refused')
          const arrived = performance.now()
          const answering = telemetry.tracing
            ? traceRequest(message.headers, declared.subject, (span) =>
                respond(options, declared, message, answer, arrived, span),
              )
            : respond(options, declared, message, answer, arrived)
          const work = answering.catch((cause: unknown) =>
            options.log.error({ err: cause, method: declared.subject }, 'an answer could not be sent'),
          )
          underWay.set(work, arrived)
          void work.finally(() => underWay.delete(work))
        },
      })
    }
  }
  await flushed(connection)
  return {
    async stop() {
      for (const shown of presence) shown.refuse()
      await service.stop()
      await Promise.all(underWay.keys())
      for (const end of unwatch) end()
      for (const shown of presence) shown.end()
      // What NATS cannot get any more has no caller, either.
      await connection.flush().catch(() => {})
    },
  }
}

// Only lists have more violations. An answer with all of them might be too large for the broker.
const mostViolations = 100

type Answer = (
  call: Call,
  bytes: Uint8Array,
) => Promise<{ bytes: Uint8Array; sequence?: number | undefined; replayed?: boolean }>

function prepare<Context>(
  options: ServeOptions<Context>,
  declared: Method,
  codec: MethodDefinition<unknown, unknown>,
  operation: Operation<Context, unknown, unknown>,
): Answer {
  const { permit, check, ignoresKey, beforeReplay, ...own } =
    typeof operation === 'function' ? { handle: operation } : operation
  const { input } = declared.desc
  const { context, rolesThere } = options
  const unlessBeside: typeof own.handle = async (...called) => {
    await options.refuseBesideFormer?.()
    return own.handle(...called)
  }
  const handle = declared.isNew ? unlessBeside : own.handle
  return async (received, bytes) => {
    const { caller, deadline } = received
    if (deadline <= Date.now()) throw deadlineExceeded()
    const refusal = options.refusal?.()
    if (refusal) throw refusal
    const call: Call = {
      ...received,
      ...(rolesThere && { rolesIn: (organizationId) => rolesThere(context, caller.userId, organizationId) }),
    }
    const message = parse(input, bytes)
    const spell = takeAliases(input, message)
    if (!spell) return perform(call, message)
    return perform(call, message).catch((error: unknown) => {
      throw renameFields(toRosterError(error), spell)
    })
  }

  async function perform(call: Call, message: Message): ReturnType<Answer> {
    // Decode the validated message, written anew, and never the request's own bytes. The operation's decoder could read
    // those differently.
    const canonical = toBinary(input, message)
    const request = orMalformed(input, () => codec.requestType.decode(canonical), message)
    const holdsPermission = await authorize(declared, request as Record<string, unknown>, call, context, options.owners)
    await permit?.(request, call, holdsPermission, context)
    const violations = validate(input, message)
    // A check looks at all fields itself. Do not repeat a field that a declared rule already reported.
    const known = new Set(violations.map(({ field }) => field))
    const more = (await check?.(context, request, call, holdsPermission)) ?? []
    violations.push(...more.filter(({ field }) => !known.has(field)))
    if (violations.length > 0) throw invalid(violations.slice(0, mostViolations))
    const encode = (response: unknown) => codec.responseType.encode(response).finish()
    if (!call.idempotencyKey || !options.answers || declared.reads || ignoresKey?.(request)) {
      const response = await handle(context, request, call)
      return { bytes: encode(response), sequence: sequenceOf(response) }
    }
    const once = { ...nameRequest(declared, call, canonical), encode }
    const answer = await options.answers.once(
      once,
      async () => encode(await handle(context, request, { ...call, once })),
      async () => beforeReplay?.(context, request, call),
    )
    return { ...answer, sequence: sequenceOf(codec.responseType.decode(answer.bytes)) }
  }
}

// A key belongs to its caller; without a token, to the client's address. The message is written anew, so that the same
// request in another encoding has the same name.
function nameRequest({ subject }: Method, call: Call, canonical: Uint8Array): Pick<Once, 'id' | 'request'> {
  const { caller, clientAddress, idempotencyKey, organizationId, ifMatch, ifNoneMatch } = call
  // As it was when one sequence was all that fitted.
  const match = ifMatch?.length === 1 ? ifMatch[0] : (ifMatch ?? null)
  const content = [organizationId, match, Buffer.from(canonical).toString('base64')]
  return {
    id: onceId([caller.userId || `at ${clientAddress}`, subject, idempotencyKey!]),
    request: JSON.stringify(ifNoneMatch ? [...content, ifNoneMatch] : content),
  }
}

// The sequence in the details block, either of the answer itself or of the object in it.
function sequenceOf(response: unknown): number | undefined {
  const { details, ...others } = response as { details?: ObjectDetails }
  if (details) return details.sequence
  const shown = Object.values(others).find((value) => typeof value === 'object' && value !== null && 'details' in value)
  return (shown as { details?: ObjectDetails } | undefined)?.details?.sequence
}

/** Reasons of errors that an operator should know about, including attacks and keys that do not match. */
const loud = new Set(['INTERNAL', 'ANSWER_TOO_LARGE', 'CALLER_NOT_SIGNED', 'CLOCKS_DIFFER'])

async function respond(
  { log, readCaller }: Pick<ServeOptions<never>, 'log' | 'readCaller'>,
  declared: Method,
  message: ServiceMsg,
  answer: Answer,
  arrived: number,
  span?: Span,
): Promise<void> {
  try {
    const { bytes, sequence, replayed } = await answer(readHeaders(message.headers, readCaller), message.data)
    await endOfTick()
    if (span) annotate(span, describeAnswer(undefined))
    const headers = { 'roster-sequence': sequence?.toString(), 'roster-replayed': markOf(replayed) }
    send(message, bytes, natsHeaders(headers), declared)
    measureCall(declared.subject, 'nats', arrived, 0)
  } catch (thrown) {
    const error = toRosterError(thrown)
    measureCall(declared.subject, 'nats', arrived, error.code)
    countLimit(error)
    if (span) annotate(span, describeAnswer(error))
    const marks = { 'roster-error': error.reason, 'roster-replayed': markOf(error.replayed) }
    send(message, encodeStatus(error), natsHeaders(marks))
    if (loud.has(error.reason))
      log.error({ err: error.cause, method: declared.subject, requestId: requestIdOf(message.headers) }, 'failed')
  }
}

const markOf = (replayed: boolean | undefined) => (replayed ? 'true' : undefined)

function send(message: ServiceMsg, bytes: Uint8Array, headers: MsgHdrs, declared?: Method): void {
  try {
    message.respond(bytes, { headers })
  } catch (cause) {
    if (!(cause instanceof NatsError) || cause.code !== 'MAX_PAYLOAD_EXCEEDED') throw cause
    const text = declared?.reads
      ? 'The answer is too large to send. Ask for less.'
      : 'The call was carried out, but its answer is too large to send.'
    throw new RosterError('RESOURCE_EXHAUSTED', 'ANSWER_TOO_LARGE', text, { cause })
  }
}
