import type { GrantsProject } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.grants.v1.UpdateProjectRequest.json'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { words as projects } from '../projects/words.ts'
import { words } from './words.ts'

const labels = {
  name: projects.name,
  hasProjectCheck: projects.projectCheck,
  projectRoleCheck: projects.roleCheck,
  projectRoleAssertion: projects.roleAssertion,
}

/** The name of a project, and who may sign in to its applications. */
export function Settings({ project }: { project: GrantsProject }) {
  const organization = useOrganization()
  const { id: projectId = '', details } = project
  const mayWrite = useMay('project.write', projectId)
  const form = useForm({
    opened: settingsOf(project),
    sequence: details?.sequence ?? '',
    rules: rules as Rules,
    async send({ name, ...checks }, { sequence, key }) {
      const changed = Object.entries(checks).map(([field, value]) => [field, value === 'true'])
      const request = { projectId, ...(name !== undefined && { name }), ...Object.fromEntries(changed) }
      const options = { organization, sequence, key }
      const answer = await write('roster.grants.v1.ProjectService/UpdateProject', request, options)
      say(words.saved)
      void readAgain()
      return answer.details?.sequence
    },
    async theirs() {
      const now = await call('roster.grants.v1.ProjectService/GetProject', { projectId }, { organization })
      const { details } = now.project ?? {}
      return {
        values: settingsOf(now.project ?? {}),
        sequence: details?.sequence ?? '',
        by: '',
        at: details?.changeDate ?? '',
      }
    },
  })
  return (
    <div class="card form">
      <fieldset disabled={mayWrite !== true}>
        <FormView form={form} labels={labels}>
          <Field form={form} name="name" label={labels.name} />
          <fieldset class="checks">
            <legend>{projects.whoMay}</legend>
            <Check form={form} name="hasProjectCheck" label={labels.hasProjectCheck} />
            <Check form={form} name="projectRoleCheck" label={labels.projectRoleCheck} hint={projects.roleCheckHint} />
          </fieldset>
          <Check
            form={form}
            name="projectRoleAssertion"
            label={labels.projectRoleAssertion}
            hint={projects.roleAssertionHint}
          />
        </FormView>
      </fieldset>
    </div>
  )
}

function settingsOf(project: GrantsProject) {
  const { name = '', hasProjectCheck, projectRoleCheck, projectRoleAssertion } = project
  const text = (value: boolean | undefined) => (value ? 'true' : '')
  return {
    name,
    hasProjectCheck: text(hasProjectCheck),
    projectRoleCheck: text(projectRoleCheck),
    projectRoleAssertion: text(projectRoleAssertion),
  }
}
