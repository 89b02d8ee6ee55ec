import { texts } from '../texts/texts.ts'

/** Words around the lines that one pastes. */
export const frameworkWords = texts(
  {
    framework: 'Framework',
    env: '.env',
    run: 'Run it',
    secretBefore: 'the one that was shown when it was made',
    secretHint: 'Put the secret in place of the dots. Nobody can show it again; a new one is made under Secrets.',
    noCode:
      'Give a library for OpenID Connect these values, such as AppAuth. It needs no secret: PKCE is in its place.',
    production: 'In production ISSUER and the client stay as they are; the address of your application is another one.',
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
