import { Link, useLocation } from 'wouter-preact'
import addRules from '../../gen/console/rules/roster.grants.v1.AddOIDCApplicationRequest.json'
import { useFilters, useHere, useOrganization } from '../address/place.ts'
import { readAgain } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { Lines } from '../form/lines.tsx'
import { linesOf } from '../form/merge.ts'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { redirectUriOf } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { say } from '../pieces/notices.tsx'
import { type Added, addApplication } from './add-application.ts'
import { ProjectChoice } from './project-choice.tsx'
import { words } from './words.ts'

export interface Chosen {
  framework: string
  name: string
  addresses: string
}

interface WizardFormProps {
  madeProject: { current: string }
  onAdded: (added: Added, chosen: Chosen) => void
}

const first = 'express'
const rules: Rules = {
  name: (addRules as Rules)['name']!,
  projectName: (addRules as Rules)['name']!,
  addresses: (addRules as Rules)['redirectUris']!,
}

/** What an application is, in the words of who writes it. */
export function WizardForm({ madeProject, onAdded }: WizardFormProps) {
  const organization = useOrganization()
  const here = useHere()
  const [filters] = useFilters()
  const [, navigate] = useLocation()
  const form = useForm({
    opened: {
      name: '',
      framework: first,
      projectId: (filters.get('project') ?? '').slice(0, 200),
      projectName: '',
      addresses: frameworks[first]!.address,
      back: frameworks[first]!.back,
      who: 'here',
      roles: 'true',
    },
    rules,
    lists: ['addresses'],
    async send(values, { key }) {
      const { name = '', framework = first, projectId = '', addresses = '', back = '', who = '' } = values
      const projectName = values.projectName || name
      const wanted = { name, projectId, projectName, addresses, back, who, roles: values.roles === 'true' }
      const added = await addApplication(
        { ...wanted, framework: frameworks[framework]! },
        { organization, key, madeProject },
      )
      if (added.appId) say(words.added(name))
      void readAgain()
      onAdded(added, { framework, name, addresses })
      return undefined
    },
    skip: (name, { framework, projectId, projectName }) => {
      const { registers } = frameworks[framework]!
      if (name === 'name') return registers === 'nothing'
      // It is called as its application, unless somebody says otherwise.
      return name === 'projectName' && (projectId !== '' || projectName === '')
    },
  })
  const framework = frameworks[form.values.framework]!
  const { registers } = framework
  const signsIn = registers !== 'nothing' && registers !== 'api'
  const isNew = form.values.projectId === ''
  const choose = (id: string) => {
    const before = frameworks[form.values.framework]!
    const next = frameworks[id]!
    // What somebody typed stays.
    if (form.values.addresses === before.address) form.set('addresses', next.address)
    if (form.values.back === before.back) form.set('back', next.back)
    form.set('framework', id)
  }
  const labels = {
    name: words.name,
    framework: words.framework,
    projectId: words.project,
    projectName: words.projectName,
    addresses: words.addresses,
    back: words.back,
    who: words.who,
    roles: words.roles,
  }
  const uris = linesOf(form.values.addresses).map((address) => redirectUriOf(framework, address))
  const who = { here: words.onlyHere, anyone: words.anyone, ...(isNew && { granted: words.granted, role: words.role }) }
  return (
    <>
      <div class="head">
        <h1>{words.title}</h1>
      </div>
      <div class="card form">
        <FormView
          form={form}
          labels={labels}
          action={registers === 'nothing' ? words.showLines : words.add}
          onCancel={() => navigate(here('/projects'))}
        >
          <Choice
            form={{ ...form, set: (_, value) => choose(value) }}
            name="framework"
            label={labels.framework}
            options={Object.fromEntries(Object.entries(frameworks).map(([id, { name }]) => [id, name]))}
          />
          {registers === 'nothing' ? (
            <p class="soft">{words.nothing}</p>
          ) : (
            <Field form={form} name="name" label={labels.name} hint={words.nameHint} />
          )}
          <ProjectChoice form={form} />
          {signsIn && (
            <>
              <Lines
                form={form}
                name="addresses"
                label={registers === 'device' ? words.schemes : words.addresses}
                hint={registers === 'device' ? words.schemesHint : words.addressesHint}
              />
              {uris.length > 0 && (
                <small>
                  {words.comesBack} <code>{uris.join(' ')}</code>
                </small>
              )}
              {framework.back !== '' && (
                <Field form={form} name="back" label={labels.back} hint={words.backHint} optional />
              )}
              <Choice form={form} name="who" label={labels.who} options={who} />
              <Check form={form} name="roles" label={labels.roles} hint={words.rolesHint} />
            </>
          )}
        </FormView>
      </div>
      <p class="soft beside">
        {words.program} <Link href={here('/machines/new')}>{words.addMachine}</Link>
      </p>
    </>
  )
}
