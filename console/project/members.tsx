import { useState } from 'preact/hooks'
import type { GrantsMember, GrantsProject } from '#gen/console/api'
import { useFilters, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { useNames } from '../history/use-names.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { type Edited, MemberForm } from './member-form.tsx'
import { memberRoles } from './member-roles.ts'
import { words } from './words.ts'

/** Who administers a project. */
export function Members({ project: { id: projectId = '' } }: { project: GrantsProject }) {
  const organization = useOrganization()
  const [filters, setFilters] = useFilters()
  const [edited, setEdited] = useState<Edited>()
  const [removed, setRemoved] = useState<string>()
  const mayWrite = useMay('project.member.write', projectId)
  const mayRemove = useMay('project.member.delete', projectId)
  const after = filters.get('after') ?? ''
  const request = { projectId, limit: 50, cursor: after }
  const query = useRead('roster.grants.v1.ProjectMemberService/SearchProjectMembers', request)
  const members = query.data && (query.data.members ?? [])
  const nameOf = useNames((members ?? []).map(({ userId }) => userId))
  const remove = async () => {
    const userId = removed ?? ''
    const method = 'roster.grants.v1.ProjectMemberService/RemoveProjectMember'
    await write(method, { projectId, userId }, { organization })
    await readAgain()
    say(words.memberRemoved(nameOf(userId)))
  }
  return (
    <div class="card">
      <div class="title">
        <h2>{words.members}</h2>
        {mayWrite && (
          <button class="primary" data-key="n" onClick={() => setEdited({ userId: '', name: '', roles: [] })}>
            {words.addMember}
          </button>
        )}
      </div>
      <List<GrantsMember>
        label={words.members}
        permission="project.member.read"
        rows={members}
        keyOf={({ userId = '' }) => userId}
        query={query}
        empty={words.noMembers}
        columns={[
          { label: words.user, cell: ({ userId = '' }) => nameOf(userId) },
          {
            label: words.roles,
            cell: ({ roles = [] }) => roles.map((role) => <span class="tag">{memberRoles[role] ?? role}</span>),
          },
          { label: words.since, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
          {
            label: common.actions,
            cell: ({ userId = '', roles = [], details }) => (
              <span class="acts">
                {mayWrite && (
                  <button
                    aria-label={`${common.change}: ${nameOf(userId)}`}
                    onClick={() =>
                      setEdited({ userId, name: nameOf(userId), roles, sequence: details?.sequence ?? '' })
                    }
                  >
                    {common.change}
                  </button>
                )}
                {mayRemove && (
                  <button
                    class="danger"
                    aria-label={`${common.remove}: ${nameOf(userId)}`}
                    onClick={() => setRemoved(userId)}
                  >
                    {common.remove}
                  </button>
                )}
              </span>
            ),
          },
        ]}
        pages={{ next: query.data?.nextCursor ?? '', after, go: (next) => setFilters({ after: next }) }}
      />
      {edited && <MemberForm projectId={projectId} edited={edited} onClose={() => setEdited(undefined)} />}
      {removed !== undefined && (
        <Confirm
          title={words.removeMemberTitle(nameOf(removed))}
          action={common.remove}
          act={remove}
          onClose={() => setRemoved(undefined)}
        >
          {words.removeMemberText}
        </Confirm>
      )}
    </div>
  )
}
