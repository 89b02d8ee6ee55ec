import type { GrantsProjectRole } from '#gen/console/api'
import addRules from '../../gen/console/rules/roster.grants.v1.AddProjectRoleRequest.json'
import changeRules from '../../gen/console/rules/roster.grants.v1.UpdateProjectRoleRequest.json'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { common } from '../texts/common.ts'
import { roleWords as t } from './role-words.ts'

const labels = { roleKey: t.key, displayName: t.displayName, group: t.group }

interface Props {
  projectId: string
  onClose: () => void
}

/** Adds a role to a project. */
export function NewRole({ projectId, onClose }: Props) {
  const organization = useOrganization()
  const form = useForm({
    opened: { roleKey: '', displayName: '', group: '' },
    rules: addRules as Rules,
    async send({ roleKey = '', displayName = '', group = '' }, { key }) {
      const request = { projectId, roleKey, displayName, group }
      await write('roster.grants.v1.ProjectService/AddProjectRole', request, { organization, key })
      done(t.added(roleKey), onClose)
      return undefined
    },
  })
  return (
    <Dialog title={t.add} onClose={onClose}>
      <FormView form={form} labels={labels} action={common.add} onCancel={onClose}>
        <Field form={form} name="roleKey" label={labels.roleKey} hint={t.keyHint} />
        <Field form={form} name="displayName" label={labels.displayName} />
        <Field form={form} name="group" label={labels.group} optional />
      </FormView>
    </Dialog>
  )
}

/** Changes how a role is called, and in which group it is shown. */
export function EditRole({ projectId, role, onClose }: Props & { role: GrantsProjectRole }) {
  const organization = useOrganization()
  const { key: roleKey = '', displayName = '', group = '' } = role
  const form = useForm({
    opened: { displayName, group },
    rules: changeRules as Rules,
    async send(changed, { key }) {
      const request = { projectId, roleKey, ...changed }
      await write('roster.grants.v1.ProjectService/UpdateProjectRole', request, { organization, key })
      done(t.changed(roleKey), onClose)
      return undefined
    },
  })
  return (
    <Dialog title={`${t.edit}: ${roleKey}`} onClose={onClose}>
      <FormView form={form} labels={labels} action={common.save} onCancel={onClose}>
        <Field form={form} name="displayName" label={labels.displayName} />
        <Field form={form} name="group" label={labels.group} optional />
      </FormView>
    </Dialog>
  )
}

function done(text: string, onClose: () => void) {
  say(text)
  void readAgain()
  onClose()
}
