import type { Kind } from '../providers/kinds.ts'
import { texts } from '../texts/texts.ts'

const t = texts(
  {
    google1:
      'In the Google Cloud console, under “APIs & Services”, set up the consent screen. “Internal” lets only people of your Workspace in.',
    google2: 'Under “Credentials”, create an OAuth client ID of the type “Web application”, with this redirect URI:',
    microsoft1:
      'In the Microsoft Entra admin center, under “App registrations”, register an application. “Supported account types” decides whose people may sign in.',
    microsoft2: 'Under “Authentication”, add the platform “Web” with this redirect URI:',
    microsoft3:
      'Under “Certificates & secrets”, create a client secret, and copy its value: Microsoft shows it once. It ends after two years at most.',
    github1:
      'In the settings of you or your organization, under “Developer settings”, “OAuth Apps”, create an OAuth app with this callback URL:',
    github2: 'Generate a client secret.',
    gitlab1:
      'Under “Preferences”, “Applications” (of a group or a server: in its settings), add an application with this redirect URI. Tick “Confidential”, and the scopes openid, profile and email:',
    apple1:
      'At Certificates, Identifiers & Profiles, open the Services ID, and configure “Sign in with Apple” with your domain and this return URL:',
    other1: 'Register a confidential web client with the code flow, and this redirect URI:',
    jwt1: 'Configure the proxy to send people back to this address once they have signed in, with the state that they came with and a token in the header. Each token is accepted once, and for five minutes at most:',
    jwt2: 'Set this audience (aud) in the tokens:',
    redirectUri: 'Redirect URI',
    authorized: 'Authorized redirect URI',
    callback: 'Authorization callback URL',
    returnUrl: 'Return URL',
    back: 'Return address',
    clientId: 'Client ID',
    clientSecret: 'Client secret',
    applicationClientId: 'Application (client) ID',
    secretValue: 'Value of the client secret',
    applicationId: 'Application ID',
    secret: 'Secret',
  },
  {
    google1:
      'Richten Sie in der Google Cloud Console unter „APIs & Services“ den Consent Screen ein. „Internal“ lässt nur Personen Ihres Workspace herein.',
    google2: 'Legen Sie unter „Credentials“ eine OAuth client ID der Art „Web application“ mit dieser Redirect-URI an:',
    microsoft1:
      'Registrieren Sie im Microsoft Entra admin center unter „App registrations“ eine Anwendung. „Supported account types“ entscheidet, wessen Personen sich anmelden dürfen.',
    microsoft2: 'Fügen Sie unter „Authentication“ die Plattform „Web“ mit dieser Redirect-URI hinzu:',
    microsoft3:
      'Legen Sie unter „Certificates & secrets“ ein Client Secret an, und kopieren Sie seinen „Value“: Microsoft zeigt ihn einmal. Es endet nach höchstens zwei Jahren.',
    github1:
      'Legen Sie in Ihren Einstellungen oder denen Ihrer Organisation unter „Developer settings“, „OAuth Apps“ eine OAuth App mit dieser Callback-URL an:',
    github2: 'Erzeugen Sie ein Client Secret.',
    gitlab1:
      'Fügen Sie unter „Preferences“, „Applications“ (einer Gruppe oder eines Servers: in dessen Einstellungen) eine Anwendung mit dieser Redirect-URI hinzu. Kreuzen Sie „Confidential“ und die Scopes openid, profile und email an:',
    apple1:
      'Öffnen Sie unter Certificates, Identifiers & Profiles die Services ID, und richten Sie „Sign in with Apple“ mit Ihrer Domain und dieser Return URL ein:',
    other1: 'Registrieren Sie einen vertraulichen Web-Client mit dem Code-Flow und dieser Redirect-URI:',
    jwt1: 'Richten Sie den Proxy so ein, dass er Personen nach der Anmeldung an diese Adresse zurückschickt, mit dem state, mit dem sie kamen, und einem Token im Header. Jedes Token gilt einmal und höchstens fünf Minuten:',
    jwt2: 'Setzen Sie diese Audience (aud) in die Tokens:',
    redirectUri: 'Redirect-URI',
    authorized: 'Authorized redirect URI',
    callback: 'Authorization callback URL',
    returnUrl: 'Return URL',
    back: 'Adresse für den Rückweg',
    clientId: 'Client-ID',
    clientSecret: 'Client Secret',
    applicationClientId: 'Application (client) ID',
    secretValue: 'Value des Client Secret',
    applicationId: 'Application ID',
    secret: 'Secret',
  },
)

/** What one does at a provider, and how its pages call what one gives and gets there. */
export interface Steps {
  /** Before the redirect URI; the last one names it. */
  before: string[]
  uri: string
  after: string[]
  /** Undefined: the wizard has asked for them. */
  client?: { id: string; secret: string }
}

const other: Steps = {
  before: [t.other1],
  uri: t.redirectUri,
  after: [],
  client: { id: t.clientId, secret: t.clientSecret },
}

/** Only of those that sign people in at a page of theirs. */
export const steps: Partial<Record<Kind, Steps>> = {
  google: { ...other, before: [t.google1, t.google2], uri: t.authorized },
  microsoft: {
    before: [t.microsoft1, t.microsoft2],
    uri: t.redirectUri,
    after: [t.microsoft3],
    client: { id: t.applicationClientId, secret: t.secretValue },
  },
  github: { ...other, before: [t.github1], uri: t.callback, after: [t.github2] },
  gitlab: { ...other, before: [t.gitlab1], client: { id: t.applicationId, secret: t.secret } },
  apple: { before: [t.apple1], uri: t.returnUrl, after: [] },
  oidc: other,
  oauth: other,
  jwt: { before: [t.jwt1], uri: t.back, after: [] },
}

export const audienceStep = t.jwt2
