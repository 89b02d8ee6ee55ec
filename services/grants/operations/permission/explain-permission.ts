import type { ExplainPermissionRequest, ExplainPermissionResponse } from '#gen/roster/grants/v1/permission_service'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { accessQuestion, faultsOf } from '../../explain/access-question.ts'
import { explainAccess } from '../../explain/explain-access.ts'
import { explainRole } from '../../explain/explain-role.ts'
import { sightOf } from '../../explain/sight.ts'
import { readUntil } from '../../explain/until.ts'
import { userNotFound } from '../../holdings.ts'

export const explainPermission = {
  permit({ userId }: ExplainPermissionRequest, { caller, organizationId }: Call): void {
    const sight = sightOf(caller, userId)
    if (!sight.isSelf && !sight.mayRead(organizationId)) throw permissionDenied()
  },
  check: (_: Context, request: ExplainPermissionRequest) => faultsOf(request),
  handle,
}

async function handle(
  context: Context,
  request: ExplainPermissionRequest,
  call: Call,
): Promise<ExplainPermissionResponse> {
  const { sql, users } = context
  const { userId, asOf } = request
  const { organizationId } = call
  const until = await readUntil(sql, asOf)
  const user = await users.traceUserState({ userId, until: until?.time }, call)
  if (user.isRemovedNow) throw userNotFound()
  const sight = sightOf(call.caller, userId)
  const question = request.question!
  const about = { userId, organizationId }
  if (question.$case === 'role') {
    const asked = { ...about, ...question.value }
    return { ...about, permission: '', ...sorted(await explainRole(context, call, asked, user, sight, until)) }
  }
  const asked = accessQuestion(request, question, organizationId)
  const { permission } = asked
  return { ...about, permission, ...sorted(await explainAccess(sql, call, asked, user, sight, until)) }
}

function sorted<Answer extends Pick<ExplainPermissionResponse, 'grounds'>>(answer: Answer): Answer {
  const grounds = answer.grounds.toSorted((left, right) => Number(right.allows) - Number(left.allows))
  return { ...answer, grounds }
}
