import type { ExplainPermissionRequest, ExplainPermissionResponse } from '#gen/roster/grants/v1/permission_service'
import { RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import { method } from '#lib/rpc/methods'
import type { Context } from '../../context.ts'
import { accessQuestion, faultsOf } from '../../explain/access-question.ts'
import { explainAccess } from '../../explain/explain-access.ts'
import { explainRole } from '../../explain/explain-role.ts'
import { findRefusal } from '../../explain/refused-calls.ts'
import { type Sight, sightAt, sightOf } from '../../explain/sight.ts'
import { beginning, findPlace, type Until, untilTime } from '../../explain/until.ts'
import { userNotFound } from '../../holdings.ts'

export const explainPermission = {
  permit({ userId }: ExplainPermissionRequest, call: Call): void {
    const sight = sightOf(call, userId)
    if (!sight.isSelf && !sight.mayRead(call.organizationId)) throw permissionDenied()
  },
  check: (_: Context, request: ExplainPermissionRequest) => faultsOf(request),
  async handle(context: Context, request: ExplainPermissionRequest, call: Call): Promise<ExplainPermissionResponse> {
    const answer = await explain(context, request, call, sightOf(call, request.userId))
    const grounds = answer.grounds.toSorted((left, right) => Number(right.allows) - Number(left.allows))
    return { ...answer, grounds }
  },
}

async function explain(
  context: Context,
  request: ExplainPermissionRequest,
  call: Call,
  sight: Sight,
): Promise<ExplainPermissionResponse> {
  const { userId, asOf } = request
  const question = request.question!
  if (question.$case === 'requestId') return explainRefusal(context, userId, question.value, call, sight)
  const explainUntil = (until: Until | undefined) => explainQuestion(context, request, question, call, sight, until)
  if (asOf?.$case !== 'asOfPosition') return explainUntil(asOf && (await untilTime(context.sql, asOf.value)))
  if (asOf.value === 0) return explainUntil(beginning)
  const place = await findPlace(context.sql, asOf.value)
  // One answer in one time for both: the caller must not learn that others have an event there, nor when it happened.
  const { mayRead } = await sightAt(context.sql, sight, [{ organizationId: place?.organizationId ?? '' }])
  const maySee = (place && mayRead(place.organizationId)) || shows(await explainUntil(undefined), asOf.value)
  if (!place || !maySee)
    throw new RosterError('NOT_FOUND', 'EVENT_NOT_FOUND', 'You see no event of grants at this position.')
  return explainUntil(place.until)
}

/** Whether an answer shows the event of grants at a position. */
function shows({ grounds, obstacles }: ExplainPermissionResponse, position: number): boolean {
  return [...grounds, ...obstacles].some(({ events }) => events.some(({ id }) => id === `grants-${position}`))
}

async function explainQuestion(
  context: Context,
  request: ExplainPermissionRequest,
  question: Exclude<NonNullable<ExplainPermissionRequest['question']>, { $case: 'requestId' }>,
  call: Call,
  narrow: Sight,
  until: Until | undefined,
): Promise<ExplainPermissionResponse> {
  const { userId } = request
  const { organizationId } = call
  const user = await traceUser(context, userId, call, until?.time)
  const sight = await sightAt(context.sql, narrow, [user])
  const none = { userId, organizationId, permission: '', refusedCall: undefined }
  if (question.$case === 'role') {
    const asked = { userId, organizationId, ...question.value }
    return { ...none, ...(await explainRole(context, call, asked, user, sight, until)) }
  }
  const asked = accessQuestion(request, question, organizationId)
  const { permission } = asked
  return { ...none, permission, ...(await explainAccess(context.sql, call, asked, user, sight, until)) }
}

async function explainRefusal(
  context: Context,
  userId: string,
  id: string,
  call: Call,
  sight: Sight,
): Promise<ExplainPermissionResponse> {
  const refusal = await findRefusal(context.sql, userId, id, sight.isSelf ? undefined : call.organizationId)
  const { organizationId, requestId, projectId, time } = refusal
  const user = await traceUser(context, userId, call, time)
  const wider = await sightAt(context.sql, sight, [user])
  const called = method(refusal.method)
  const { permission } = called.access
  const asked = { userId, organizationId, projectId, own: false, permission, method: called }
  const explained = await explainAccess(context.sql, call, asked, user, wider, { time: time! })
  const refusedCall = { requestId, operation: called.path, time, becauseOfRequest: explained.allowed }
  return { userId, organizationId, permission, ...explained, refusedCall }
}

/** The user as of then. NOT_FOUND USER_NOT_FOUND where it is removed by now. */
async function traceUser({ users }: Context, userId: string, call: Call, until?: Date) {
  const user = await users.traceUserState({ userId, until }, call)
  if (user.isRemovedNow) throw userNotFound()
  return user
}
