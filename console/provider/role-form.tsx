import { useState } from 'preact/hooks'
import type { IdpIDPRoleRow } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { useForm } from '../form/use-form.ts'
import { ApiError } from '../api/errors.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { RoleChecks } from '../project/role-checks.tsx'
import { roleWords as w } from './role-words.ts'

interface RoleFormProps {
  add: (row: IdpIDPRoleRow) => Promise<void>
  onClose: () => void
}

const most = 1000

/** A claim, the value that it has to have, and what it gives. */
export function RoleForm({ add, onClose }: RoleFormProps) {
  const [roleKeys, setRoles] = useState<string[]>([])
  const { data } = useRead('roster.grants.v1.ProjectService/SearchProjects', {
    sortingColumn: 'PROJECT_FIELD_NAME_NAME',
    limit: most,
  })
  const projects = Object.fromEntries((data?.projects ?? []).map(({ id = '', name = id }) => [id, name]))
  const form = useForm({
    opened: { claim: 'groups', value: '', projectId: '' },
    rules: {
      claim: [{ rule: 'minLength', value: 1 }],
      value: [{ rule: 'minLength', value: 1 }],
      projectId: [{ rule: 'minLength', value: 1 }],
    },
    async send({ claim = '', value = '', projectId = '' }) {
      await add({ claim, value, projectId, roleKeys }).catch((cause: unknown) => {
        // The new row is the last one.
        if (cause instanceof ApiError)
          cause.violations = cause.violations.map(({ field, description }) => ({
            field: field.replace(/^rows\[\d+\]\./, ''),
            description,
          }))
        throw cause
      })
      onClose()
      return undefined
    },
  })
  const labels = { claim: w.claim, value: w.value, projectId: w.project }
  const { projectId } = form.values
  const choose = (next: string) => {
    setRoles([])
    form.set('projectId', next)
  }
  return (
    <Dialog title={w.add} onClose={onClose}>
      <FormView form={form} labels={labels} action={w.add} onCancel={onClose}>
        <div class="both">
          <Field form={form} name="claim" label={labels.claim} hint={w.claimHint} />
          <Field form={form} name="value" label={labels.value} hint={w.valueHint} />
        </div>
        <Choice
          form={{ ...form, set: (_, value) => choose(value) }}
          name="projectId"
          label={labels.projectId}
          options={{ '': w.choose, ...projects }}
        />
        {projectId !== '' && <RoleChecks projectId={projectId} chosen={roleKeys} onChange={setRoles} />}
      </FormView>
    </Dialog>
  )
}
