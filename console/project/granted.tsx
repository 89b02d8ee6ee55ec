import { useState } from 'preact/hooks'
import type { GrantsGrantedProject, GrantsProject } from '#gen/console/api'
import { useFilters, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { accessWords as t } from './access-words.ts'
import { GrantForm } from './grant-form.tsx'
import { useOrganizationNames } from './organizations.ts'
import { words } from './words.ts'

const service = 'roster.grants.v1.ProjectService'

/** The organizations that may give roles of the project to their people. */
export function Granted({ project: { id: projectId = '' } }: { project: GrantsProject }) {
  const organization = useOrganization()
  const [filters, setFilters] = useFilters()
  const [edited, setEdited] = useState<GrantsGrantedProject>()
  const [removed, setRemoved] = useState<GrantsGrantedProject>()
  const mayWrite = useMay('project.grant.write', projectId)
  const mayRemove = useMay('project.grant.delete', projectId)
  const after = filters.get('after') ?? ''
  const request = { projectId, limit: 50, cursor: after }
  const query = useRead(`${service}/SearchProjectGrants`, request)
  const grants = query.data && (query.data.projectGrants ?? [])
  const nameOf = useOrganizationNames((grants ?? []).map(({ grantedOrgId = '' }) => grantedOrgId))
  const act = async (method: 'DeactivateProjectGrant' | 'ReactivateProjectGrant', grantId: string, done: string) => {
    await write(`${service}/${method}`, { projectId, grantId }, { organization })
    await readAgain()
    say(done)
  }
  const remove = async () => {
    const { grantId = '', grantedOrgId = '' } = removed ?? {}
    await write(`${service}/RemoveProjectGrant`, { projectId, grantId }, { organization })
    await readAgain()
    say(t.removed(nameOf(grantedOrgId)))
  }
  return (
    <div class="card">
      <div class="title">
        <h2>{words.granted}</h2>
        {mayWrite && (
          <button class="primary" data-key="n" onClick={() => setEdited({})}>
            {t.addGrant}
          </button>
        )}
      </div>
      <List<GrantsGrantedProject>
        label={words.granted}
        permission="project.grant.read"
        rows={grants}
        keyOf={({ grantId = '' }) => grantId}
        query={query}
        empty={t.grantsNone}
        columns={[
          { label: t.organization, cell: ({ grantedOrgId = '' }) => nameOf(grantedOrgId) },
          {
            label: words.roles,
            cell: ({ grantedRoleKeys = [] }) =>
              grantedRoleKeys.length > 0 ? grantedRoleKeys.map((key) => <span class="tag">{key}</span>) : common.none,
          },
          { label: t.state, cell: stateTag, wide: true },
          { label: t.since, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
          {
            label: common.actions,
            cell: (grant) => {
              const { grantId = '', grantedOrgId = '', state } = grant
              const name = nameOf(grantedOrgId)
              const isActive = state === 'PROJECT_GRANT_STATE_ACTIVE'
              const method = isActive ? 'DeactivateProjectGrant' : 'ReactivateProjectGrant'
              return (
                <span class="acts">
                  {mayWrite && (
                    <button aria-label={`${common.change}: ${name}`} onClick={() => setEdited(grant)}>
                      {common.change}
                    </button>
                  )}
                  {mayWrite && (
                    <button
                      aria-label={`${isActive ? t.suspend : t.resume}: ${name}`}
                      onClick={() => void act(method, grantId, isActive ? t.suspended2 : t.resumed).catch(sayProblem)}
                    >
                      {isActive ? t.suspend : t.resume}
                    </button>
                  )}
                  {mayRemove && (
                    <button class="danger" aria-label={`${common.remove}: ${name}`} onClick={() => setRemoved(grant)}>
                      {common.remove}
                    </button>
                  )}
                </span>
              )
            },
          },
        ]}
        pages={{ next: query.data?.nextCursor ?? '', after, go: (next) => setFilters({ after: next }) }}
      />
      {edited && <GrantForm projectId={projectId} grant={edited} onClose={() => setEdited(undefined)} />}
      {removed && (
        <Confirm
          title={t.removeTitle(nameOf(removed.grantedOrgId ?? ''))}
          action={common.remove}
          name={nameOf(removed.grantedOrgId ?? '')}
          act={remove}
          onClose={() => setRemoved(undefined)}
        >
          {t.removeText}
        </Confirm>
      )}
    </div>
  )
}

function stateTag({ state }: GrantsGrantedProject) {
  const isActive = state === 'PROJECT_GRANT_STATE_ACTIVE'
  return <span class={`tag ${isActive ? 'good' : 'warn'}`}>{isActive ? t.active : t.inactive}</span>
}
