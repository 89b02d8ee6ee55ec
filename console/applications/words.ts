import type { GrantsApplicationState, GrantsOIDCAppType } from '#gen/console/api'
import { texts } from '../texts/texts.ts'

/** Words about applications, which lists, the application and the wizard share. */
export const words = texts(
  {
    applications: 'Applications',
    add: 'Add an application',
    find: 'Find by name',
    name: 'Name',
    kind: 'Kind',
    state: 'State',
    clientId: 'Client ID',
    changed: 'Changed',
    project: 'Project',
    none: 'There is no application yet. People sign in to one, such as a web application or a mobile app.',
    anyState: 'Any state',
    active: 'active',
    inactive: 'deactivated',
    web: 'web application',
    userAgent: 'page in the browser',
    native: 'native application',
    api: 'API',
  },
  {
    applications: 'Anwendungen',
    add: 'Anwendung hinzufügen',
    find: 'Nach Name finden',
    name: 'Name',
    kind: 'Art',
    state: 'Zustand',
    clientId: 'Client-ID',
    changed: 'Geändert',
    project: 'Projekt',
    none: 'Es gibt noch keine Anwendung. An einer melden sich Personen an, etwa an einer Web-Anwendung oder einer App.',
    anyState: 'Jeder Zustand',
    active: 'aktiv',
    inactive: 'deaktiviert',
    web: 'Webanwendung',
    userAgent: 'Seite im Browser',
    native: 'native Anwendung',
    api: 'API',
  },
)

export const kinds: Record<GrantsOIDCAppType | 'API', string> = {
  OIDC_APP_TYPE_WEB: words.web,
  OIDC_APP_TYPE_USER_AGENT: words.userAgent,
  OIDC_APP_TYPE_NATIVE: words.native,
  API: words.api,
}

export const states: Partial<Record<GrantsApplicationState, { text: string; tone: string }>> = {
  APPLICATION_STATE_ACTIVE: { text: words.active, tone: 'good' },
  APPLICATION_STATE_INACTIVE: { text: words.inactive, tone: 'warn' },
}
