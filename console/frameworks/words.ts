import { texts } from '../texts/texts.ts'

/** Words around the lines that one pastes. */
export const frameworkWords = texts(
  {
    framework: 'Framework',
    env: '.env',
    run: 'Run it',
    secretBefore: 'the secret that was shown when it was created',
    secretHint: 'Replace the dots with the secret. It cannot be shown again: add a new one under Secrets.',
    noCode:
      'Configure a library for OpenID Connect, such as AppAuth, with these values. It uses PKCE instead of a secret.',
    production: 'In production only the address of your application changes. ISSUER and the client stay.',
  },
  {
    framework: 'Framework',
    env: '.env',
    run: 'Starten',
    secretBefore: 'das beim Anlegen gezeigt wurde',
    secretHint:
      'Setzen Sie das Geheimnis statt der Punkte ein. Niemand kann es noch einmal zeigen; ein neues entsteht unter Geheimnisse.',
    noCode:
      'Geben Sie diese Werte einer Bibliothek für OpenID Connect, etwa AppAuth. Sie braucht kein Geheimnis: PKCE tritt an seine Stelle.',
    production:
      'In Produktion bleiben ISSUER und der Client, wie sie sind; die Adresse Ihrer Anwendung ist eine andere.',
  },
)
