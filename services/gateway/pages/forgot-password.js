import { runFormPage } from './form-page.js'

const texts = {
  en: {
    title: 'Forgotten password',
    intro:
      'Tell us the name that you sign in with. A code for a new password then goes to the email address of your account.',
    loginName: 'Login name',
    send: 'Send me a code',
    working: 'One moment …',
    done: 'Look into your mailbox',
    doneHint:
      'If there is such an account, a mail with a code is on its way. Nothing comes? Then ask the administrators of your organization.',
    often: 'Too many requests. Please wait {wait} and try again.',
    failed: 'That did not work, and it is not your fault. Please try again in a moment.',
    offline: 'The service could not be reached. Check your connection and try again.',
  },
  de: {
    title: 'Passwort vergessen',
    intro:
      'Nennen Sie uns den Namen, mit dem Sie sich anmelden. Ein Code für ein neues Passwort geht dann an die E-Mail-Adresse Ihres Kontos.',
    loginName: 'Anmeldename',
    send: 'Code zusenden',
    working: 'Einen Moment …',
    done: 'Sehen Sie in Ihr Postfach',
    doneHint:
      'Wenn es ein solches Konto gibt, ist eine Mail mit einem Code unterwegs. Es kommt nichts? Dann fragen Sie die Verwalter Ihrer Organisation.',
    often: 'Zu viele Anfragen. Bitte warten Sie {wait} und versuchen Sie es noch einmal.',
    failed: 'Das ging schief, und es liegt nicht an Ihnen. Bitte versuchen Sie es gleich noch einmal.',
    offline: 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  },
}

const loginName = document.getElementById('login-name')

runFormPage({
  texts,
  request: () => ({ path: '/v2/users/password_reset', body: { loginName: loginName.value.trim() } }),
  refused: () => ({ wrong: 'failed', field: 'login-name' }),
})
