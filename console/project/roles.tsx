import { useState } from 'preact/hooks'
import type { GrantsProject, GrantsProjectRole } from '#gen/console/api'
import { useFilters, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { common } from '../texts/common.ts'
import { EditRole, NewRole } from './role-form.tsx'
import { PasteRoles } from './paste-roles.tsx'
import { roleWords as t } from './role-words.ts'
import { words } from './words.ts'

type Open = 'new' | 'paste' | { edit: GrantsProjectRole } | { remove: GrantsProjectRole }

/** The roles that people can have in a project. */
export function Roles({ project: { id: projectId = '' } }: { project: GrantsProject }) {
  const [open, setOpen] = useState<Open>()
  const [filters, setFilters] = useFilters()
  const mayWrite = useMay('project.role.write', projectId)
  const mayRemove = useMay('project.role.delete', projectId)
  const text = (filters.get('q') ?? '').slice(0, 200)
  const after = filters.get('after') ?? ''
  const query = useRead('roster.grants.v1.ProjectService/SearchProjectRoles', {
    projectId,
    ...(text && { key: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }),
    limit: 50,
    cursor: after,
  })
  const close = () => setOpen(undefined)
  const columns: Column<GrantsProjectRole>[] = [
    { label: t.key, cell: ({ key }) => <code>{key}</code> },
    { label: t.displayName, cell: ({ displayName }) => displayName },
    { label: t.group, cell: ({ group }) => group, wide: true },
    {
      label: common.actions,
      cell: (role) => (
        <span class="acts">
          {mayWrite && (
            <button aria-label={`${t.edit}: ${role.key}`} onClick={() => setOpen({ edit: role })}>
              {t.edit}
            </button>
          )}
          {mayRemove && (
            <button
              class="danger"
              aria-label={`${common.remove}: ${role.key}`}
              onClick={() => setOpen({ remove: role })}
            >
              {common.remove}
            </button>
          )}
        </span>
      ),
    },
  ]
  return (
    <div class="card">
      <div class="title">
        <h2>{words.roles}</h2>
        {mayWrite && (
          <span class="acts">
            <button onClick={() => setOpen('paste')}>{t.paste}</button>
            <button class="primary" data-key="n" onClick={() => setOpen('new')}>
              {t.add}
            </button>
          </span>
        )}
      </div>
      <div class="filters">
        <FilterText label={t.find} value={text} onChange={(q) => setFilters({ q })} />
      </div>
      <List
        label={words.roles}
        permission="project.role.read"
        columns={mayWrite || mayRemove ? columns : columns.slice(0, 3)}
        rows={query.data && (query.data.roles ?? [])}
        keyOf={({ key = '' }) => key}
        query={query}
        empty={t.none}
        clear={text ? () => setFilters({ q: '' }) : undefined}
        pages={{ next: query.data?.nextCursor ?? '', after, go: (next) => setFilters({ after: next }) }}
      />
      {open === 'new' && <NewRole projectId={projectId} onClose={close} />}
      {open === 'paste' && <PasteRoles projectId={projectId} onClose={close} />}
      {typeof open === 'object' && 'edit' in open && (
        <EditRole projectId={projectId} role={open.edit} onClose={close} />
      )}
      {typeof open === 'object' && 'remove' in open && (
        <RemoveRole projectId={projectId} roleKey={open.remove.key ?? ''} onClose={close} />
      )}
    </div>
  )
}

function RemoveRole({ projectId, roleKey, onClose }: { projectId: string; roleKey: string; onClose: () => void }) {
  const organization = useOrganization()
  const act = async () => {
    await write('roster.grants.v1.ProjectService/RemoveProjectRole', { projectId, roleKey }, { organization })
    await readAgain()
    say(t.removed(roleKey))
  }
  return (
    <Confirm title={t.removeTitle(roleKey)} action={common.remove} name={roleKey} act={act} onClose={onClose}>
      {t.removeText}
    </Confirm>
  )
}
