import { runFormPage } from './form-page.js'

const texts = {
  en: {
    title: 'Forgot your password?',
    intro: 'We will send a code to the email address of your account. With it you can choose a new password.',
    loginName: 'Login name or email address',
    send: 'Send me a code',
    working: 'One moment …',
    done: 'Check your email',
    doneHint:
      'If an account of this name can get a new password here, we have sent an email with a code to its address. Check your spam folder, too. If nothing arrives, do you sign in with another service? Then change your password there. Else ask the administrators of your organization.',
    often: 'Too many requests. Please wait {wait} and try again.',
    failed: 'Something went wrong. This is not your fault. Please try again in a moment.',
    offline: 'We could not reach the service. Check your connection and try again.',
  },
  de: {
    title: 'Passwort vergessen?',
    intro: 'Wir senden einen Code an die E-Mail-Adresse Ihres Kontos. Damit können Sie ein neues Passwort wählen.',
    loginName: 'Anmeldename oder E-Mail-Adresse',
    send: 'Code zusenden',
    working: 'Einen Moment …',
    done: 'Sehen Sie in Ihrem Postfach nach',
    doneHint:
      'Wenn ein Konto dieses Namens hier ein neues Passwort bekommen kann, haben wir eine E-Mail mit einem Code an seine Adresse gesendet. Sehen Sie auch im Spam-Ordner nach. Wenn nichts ankommt: Melden Sie sich mit einem anderen Dienst an? Dann ändern Sie Ihr Passwort dort. Sonst wenden Sie sich an die Administratoren Ihrer Organisation.',
    often: 'Zu viele Anfragen. Bitte warten Sie {wait} und versuchen Sie es noch einmal.',
    failed: 'Etwas ist schiefgegangen. Das liegt nicht an Ihnen. Bitte versuchen Sie es gleich noch einmal.',
    offline: 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  },
}

const loginName = document.getElementById('login-name')

runFormPage({
  texts,
  request: () => ({ path: '/v2/users/password_reset', body: { loginName: loginName.value.trim() } }),
  refused: () => ({ wrong: 'failed', field: 'login-name' }),
})
