import { useLocation } from 'wouter-preact'
import rules from '../../gen/console/rules/roster.grants.v1.AddProjectRequest.json'
import { useHere, useOrganization, useTitle } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { words } from './words.ts'

/** Adds a project. */
export default function AddProject() {
  useTitle(words.add)
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const form = useForm({
    opened: { name: '', projectRoleCheck: '', hasProjectCheck: '' },
    rules: rules as Rules,
    async send({ name = '', projectRoleCheck, hasProjectCheck }, { key }) {
      const request = {
        name,
        ...(projectRoleCheck && { projectRoleCheck: true }),
        ...(hasProjectCheck && { hasProjectCheck: true }),
      }
      const { id = '' } = await write('roster.grants.v1.ProjectService/AddProject', request, { organization, key })
      say(words.added(name))
      void readAgain()
      navigate(here(`/projects/${encodeURIComponent(id)}`))
      return undefined
    },
  })
  const labels = { name: words.name, projectRoleCheck: words.roleCheck, hasProjectCheck: words.projectCheck }
  return (
    <>
      <div class="head">
        <h1>{words.add}</h1>
      </div>
      <div class="card form">
        <FormView form={form} labels={labels} action={words.add} onCancel={() => navigate(here('/projects'))}>
          <Field form={form} name="name" label={words.name} />
          <fieldset class="checks">
            <legend>{words.whoMay}</legend>
            <Check form={form} name="hasProjectCheck" label={words.projectCheck} />
            <Check form={form} name="projectRoleCheck" label={words.roleCheck} hint={words.roleCheckHint} />
          </fieldset>
        </FormView>
      </div>
    </>
  )
}
