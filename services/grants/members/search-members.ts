import { type Member, MemberFieldName } from '#gen/roster/grants/v1/member'
import type { Call } from '#lib/rpc/headers'
import { type Order, search } from '#lib/search/search'
import type { Context } from '../context.ts'
import type { Place } from './place.ts'

interface Request {
  userId: string
  role: string
  sortingColumn: MemberFieldName
  descending: boolean
  limit: number
  cursor: string
  withTotal: boolean
}

/** A page of the members at a place. INVALID_ARGUMENT CURSOR_INVALID, UNAVAILABLE STORE_UNAVAILABLE. */
export async function searchMembers(
  context: Context,
  method: string,
  { organizationId, projectId = '' }: Place,
  request: Request,
  call: Call,
): Promise<{ members: Member[]; nextCursor: string; total: number | undefined }> {
  const { sql, config } = context
  const { userId, role, sortingColumn, descending } = request
  const byUser: Order['by'] = [{ column: sql`user_id`, type: 'text' }]
  const byCreation: Order['by'] = [{ column: sql`created_at`, type: 'timestamptz' }, ...byUser]
  const { rows, nextCursor, total } = await search<Row>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method,
      request,
      call,
      columns: sql`user_id, organization_id, roles, sequence, created_at, changed_at`,
      from: sql`memberships`,
      where: sql`
      organization_id = ${organizationId} and project_id = ${projectId}
      ${userId === '' ? sql`` : sql`and user_id = ${userId}`}
      ${role === '' ? sql`` : sql`and roles @> array[${role}]`}
    `,
      order: { by: sortingColumn === MemberFieldName.MEMBER_FIELD_NAME_USER_ID ? byUser : byCreation, descending },
    },
  )
  return { members: rows.map(showMember), nextCursor, total }
}

interface Row {
  user_id: string
  organization_id: string
  roles: string[]
  sequence: string
  created_at: Date
  changed_at: Date
}

function showMember({ user_id, organization_id, roles, sequence, created_at, changed_at }: Row): Member {
  return {
    userId: user_id,
    details: {
      sequence: Number(sequence),
      creationDate: created_at,
      changeDate: changed_at,
      resourceOwner: organization_id,
    },
    roles,
  }
}
