import { lazy, Suspense } from 'preact/compat'
import { useRead } from '../api/queries.ts'
import type { Option } from '../form/picker.tsx'
import { RoleChecks } from '../project/role-checks.tsx'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))
const most = 20

export interface InvitedGrant {
  projectId: string
  name: string
  roleKeys: string[]
}

/** The grants of a form, which has them as one text. */
export function grantsOf(text = '[]'): InvitedGrant[] {
  return JSON.parse(text) as InvitedGrant[]
}

interface GrantsProps {
  grants: InvitedGrant[]
  onChange: (grants: InvitedGrant[]) => void
}

/** Roles in projects: a project each, with its roles. */
export function Grants({ grants, onChange }: GrantsProps) {
  const change = (projectId: string, roleKeys: string[]) =>
    onChange(grants.map((grant) => (grant.projectId === projectId ? { ...grant, roleKeys } : grant)))
  const add = ({ id, label }: Option) => {
    if (grants.some(({ projectId }) => projectId === id) || grants.length === most) return
    onChange([...grants, { projectId: id, name: label, roleKeys: [] }])
  }
  return (
    <div class="field" role="group" aria-label={words.projectRoles}>
      <Suspense fallback={null}>
        <Picker label={words.projectRoles} placeholder={words.addProject} useOptions={useProjects} onPick={add} />
      </Suspense>
      {grants.map((grant) => (
        <RolesOf
          key={grant.projectId}
          grant={grant}
          onChange={(roleKeys) => change(grant.projectId, roleKeys)}
          onRemove={() => onChange(grants.filter(({ projectId }) => projectId !== grant.projectId))}
        />
      ))}
    </div>
  )
}

interface RolesOfProps {
  grant: InvitedGrant
  onChange: (roleKeys: string[]) => void
  onRemove: () => void
}

function RolesOf({ grant: { projectId, name, roleKeys }, onChange, onRemove }: RolesOfProps) {
  return (
    <div class="field" role="group" aria-label={words.rolesOf(name)}>
      <span class="with-button">
        <b class="grow">{name}</b>
        <button type="button" class="plain" aria-label={words.removeProject(name)} onClick={onRemove}>
          {common.remove}
        </button>
      </span>
      <RoleChecks projectId={projectId} chosen={roleKeys} onChange={onChange} />
    </div>
  )
}

function useProjects(text: string): { options: Option[] | undefined; isFetching: boolean } {
  const name = text === '' ? {} : { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }
  const { data, isFetching } = useRead('roster.grants.v1.ProjectService/SearchProjects', { ...name, limit: 10 })
  const options = data?.projects?.map(({ id = '', name = '' }) => ({ id, label: name }))
  return { options, isFetching }
}
