import { useState } from 'preact/hooks'
import { useRead } from '../api/queries.ts'
import { FilterText } from '../list/filter-text.tsx'
import { roleWords as t } from './role-words.ts'

const most = 50

interface RoleChecksProps {
  projectId: string
  chosen: string[]
  onChange: (chosen: string[]) => void
}

/** Some of the roles of a project. Of many, those that a key is typed for. */
export function RoleChecks({ projectId, chosen, onChange }: RoleChecksProps) {
  const [text, setText] = useState('')
  const { data } = useRead('roster.grants.v1.ProjectService/SearchProjectRoles', {
    projectId,
    ...(text && { key: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }),
    limit: most,
  })
  const found = (data?.roles ?? []).map(({ key = '', displayName = '' }) => ({ key, displayName }))
  // What is chosen stays in sight, whatever is typed.
  const others = chosen.filter((key) => !found.some((role) => role.key === key))
  const shown = [...others.map((key) => ({ key, displayName: '' })), ...found]
  const isLong = Boolean(data?.nextCursor) || text !== ''
  const toggle = (key: string) => () =>
    onChange(chosen.includes(key) ? chosen.filter((other) => other !== key) : [...chosen, key])
  return (
    <fieldset class="checks">
      <legend>{t.choose}</legend>
      {isLong && <FilterText label={t.filterAll} value={text} onChange={setText} />}
      {data && shown.length === 0 && <small>{t.noRoles}</small>}
      <div class="many">
        {shown.map(({ key, displayName }) => (
          <label key={key} class="box">
            <input type="checkbox" checked={chosen.includes(key)} onChange={toggle(key)} />
            <span>
              <code>{key}</code> {displayName !== key && <small>{displayName}</small>}
            </span>
          </label>
        ))}
      </div>
      {data?.nextCursor && <small>{t.more}</small>}
    </fieldset>
  )
}
