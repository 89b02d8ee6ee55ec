import type { GrantsApplication } from '#gen/console/api'
import type { Column } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { kinds, states, words } from './words.ts'

/** What an application is, in a word: where it runs. */
export function kindOf({ oidcConfig, apiConfig }: GrantsApplication): string {
  if (apiConfig) return kinds.API
  return kinds[oidcConfig?.effective?.appType ?? oidcConfig?.appType ?? 'OIDC_APP_TYPE_WEB']
}

export function ApplicationState({ application: { state } }: { application: GrantsApplication }) {
  const { text, tone } = states[state ?? 'APPLICATION_STATE_UNSPECIFIED'] ?? { text: state, tone: '' }
  return <span class={`tag ${tone}`}>{text}</span>
}

export function clientIdOf({ oidcConfig, apiConfig }: GrantsApplication): string {
  return oidcConfig?.clientId ?? apiConfig?.clientId ?? ''
}

export const applicationColumns: Column<GrantsApplication>[] = [
  {
    label: words.name,
    cell: (application) => (
      <>
        {application.name}
        <small class="below">{kindOf(application)}</small>
      </>
    ),
  },
  { label: words.kind, cell: kindOf, wide: true },
  { label: words.state, cell: (application) => <ApplicationState application={application} /> },
  { label: words.clientId, cell: (application) => <code>{clientIdOf(application)}</code>, wide: true },
  { label: words.changed, cell: ({ details }) => <Time at={details?.changeDate} />, wide: true },
]
