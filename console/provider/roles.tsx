import { useState } from 'preact/hooks'
import type { IdpIDP, IdpIDPRoleRow } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { useProjectNames } from '../history/use-project-names.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { useMayThere } from '../providers/place.ts'
import { common } from '../texts/common.ts'
import { RoleForm } from './role-form.tsx'
import { roleWords as w } from './role-words.ts'

/** Which roles a provider's claims give. Each row is written with all others, as they were read. */
export function Roles({ provider }: { provider: IdpIDP }) {
  const organization = useOrganization()
  const mayWrite = useMayThere('write')
  const [asked, setAsked] = useState<'add' | IdpIDPRoleRow>()
  const { id: idpId = '', roleRows: rows = [], details } = provider
  const projectName = useProjectNames(rows.map(({ projectId = '' }) => projectId))
  const set = async (next: IdpIDPRoleRow[], done: string) => {
    const method = 'roster.idp.v1.OrganizationIdentityProviderService/SetOrganizationIDPRoles'
    await write(method, { idpId, rows: next }, { organization, sequence: details?.sequence })
    await readAgain()
    say(done)
  }
  const close = () => setAsked(undefined)
  return (
    <div class="card">
      <div class="title">
        <h2>{w.roles}</h2>
        {mayWrite && <button onClick={() => setAsked('add')}>{w.add}</button>}
      </div>
      <p class="inside soft">{w.intro}</p>
      <List<IdpIDPRoleRow>
        label={w.roles}
        permission="org.idp.read"
        rows={rows}
        keyOf={keyOf}
        query={{ error: null, isFetching: false, isPlaceholderData: false, refetch: () => undefined }}
        empty={w.none}
        columns={[
          {
            label: w.claimAndValue,
            cell: ({ claim, value, projectId = '' }) => (
              <>
                <code>{claim}</code> = {value}
                <small class="below">{projectName(projectId)}</small>
              </>
            ),
          },
          { label: w.project, cell: ({ projectId = '' }) => projectName(projectId), wide: true },
          {
            label: w.gives,
            cell: ({ roleKeys = [] }) => roleKeys.map((key) => <span class="tag">{key}</span>),
          },
          ...(mayWrite
            ? [
                {
                  label: common.actions,
                  cell: (row: IdpIDPRoleRow) => (
                    <div class="acts">
                      <button class="danger" aria-label={w.removeOf(row.value ?? '')} onClick={() => setAsked(row)}>
                        {common.remove}
                      </button>
                    </div>
                  ),
                },
              ]
            : []),
        ]}
      />
      {asked === 'add' && <RoleForm add={(row) => set([...rows, row], w.added)} onClose={close} />}
      {asked && asked !== 'add' && (
        <Confirm
          title={w.removeTitle(asked.value ?? '')}
          action={common.remove}
          act={() =>
            set(
              rows.filter((row) => keyOf(row) !== keyOf(asked)),
              w.removed,
            )
          }
          onClose={close}
        >
          {w.removeText}
        </Confirm>
      )}
    </div>
  )
}

function keyOf({ claim, value, projectId }: IdpIDPRoleRow): string {
  return JSON.stringify([claim, value, projectId])
}
