import type { GrantsApplication } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.grants.v1.PatchApplicationRequest.json'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import type { Rules } from '../form/rules.ts'
import { type Form, type Theirs, useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { requestOf, type Settings, valuesOf } from './setting-values.ts'
import { settingWords } from './setting-words.ts'
import { words } from './words.ts'

const service = 'roster.grants.v1.ApplicationService'
const inSeconds = [{ rule: 'pattern' as const, value: '^\\d*$', says: settingWords.seconds }]
const allRules: Rules = {
  ...(rules as Rules),
  'oidcConfig.clockSkew': inSeconds,
  'oidcConfig.accessTokenLifetime': inSeconds,
}

/** A form over settings of an application. It sends the changed ones alone, and only to the application that was read. */
export function useSettings(application: GrantsApplication): Form<Settings> {
  const organization = useOrganization()
  const { id: appId = '', projectId = '', details } = application
  return useForm<Settings>({
    opened: valuesOf(application),
    sequence: details?.sequence ?? '',
    rules: allRules,
    lists: ['oidcConfig.redirectUris', 'oidcConfig.postLogoutRedirectUris'],
    async send(changed, { sequence, key }) {
      const request = { projectId, appId, ...requestOf(changed) }
      const { details } = await write(`${service}/PatchApplication`, request, { organization, sequence, key })
      say(words.saved)
      void readAgain()
      return details?.sequence
    },
    theirs: () => readTheirs(projectId, appId, organization),
  })
}

async function readTheirs(projectId: string, appId: string, organization: string): Promise<Theirs<Settings>> {
  const { application = {} } = await call(`${service}/GetApplication`, { projectId, appId }, { organization })
  const { details } = application
  return { values: valuesOf(application), sequence: details?.sequence ?? '', by: '', at: details?.changeDate ?? '' }
}
