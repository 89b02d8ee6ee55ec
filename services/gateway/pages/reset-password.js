import { runFormPage } from './form-page.js'

const texts = {
  en: {
    title: 'Choose a new password',
    intro: 'Check the code from the email and enter the new password twice. You will be signed out everywhere.',
    userId: 'User ID',
    userHint:
      'Your link is incomplete: the user ID is missing. Open the link in the email again, or enter the ID here.',
    code: 'Code from the email',
    password: 'New password',
    passwordHint: 'At least 8 characters. 15 or more are better.',
    hints: {
      short: 'Still too short.',
      plain: 'Still easy to guess. Use a wider mix of characters.',
      enough: 'Long enough. 15 or more characters are better.',
      good: 'Good length.',
    },
    show: 'Show',
    repeated: 'New password again',
    set: 'Set password',
    working: 'One moment …',
    done: 'Your password is set',
    doneHint: 'You can close this page. Go back to your application and sign in there with the new password.',
    different: 'The two passwords do not match.',
    short: 'The password must have 8 to 200 characters.',
    common: 'This password is too easy to guess. Choose another one, for example several words of your own.',
    wrong:
      'This code does not work. It may be mistyped, expired, already used, or replaced by a newer one. Use the code from the latest email, or request a new one.',
    often: 'Too many attempts. Please wait {wait} and try again.',
    failed: 'Something went wrong. This is not your fault. Your code is still valid: please try again in a moment.',
    offline: 'We could not reach the service. Check your connection and try again.',
  },
  de: {
    title: 'Neues Passwort wählen',
    intro:
      'Prüfen Sie den Code aus der E-Mail und geben Sie das neue Passwort zweimal ein. Sie werden überall abgemeldet.',
    userId: 'Benutzer-ID',
    userHint:
      'Ihr Link ist unvollständig: Die Benutzer-ID fehlt. Öffnen Sie den Link in der E-Mail noch einmal, oder geben Sie die ID hier ein.',
    code: 'Code aus der E-Mail',
    password: 'Neues Passwort',
    passwordHint: 'Mindestens 8 Zeichen. 15 oder mehr sind besser.',
    hints: {
      short: 'Noch zu kurz.',
      plain: 'Noch leicht zu erraten. Verwenden Sie mehr unterschiedliche Zeichen.',
      enough: 'Lang genug. 15 oder mehr Zeichen sind besser.',
      good: 'Gute Länge.',
    },
    show: 'Anzeigen',
    repeated: 'Neues Passwort noch einmal',
    set: 'Passwort speichern',
    working: 'Einen Moment …',
    done: 'Ihr neues Passwort ist gespeichert',
    doneHint:
      'Sie können diese Seite schließen. Gehen Sie zurück zu Ihrer Anwendung und melden Sie sich dort mit dem neuen Passwort an.',
    different: 'Die beiden Passwörter stimmen nicht überein.',
    short: 'Das Passwort muss 8 bis 200 Zeichen haben.',
    common: 'Dieses Passwort ist zu leicht zu erraten. Wählen Sie ein anderes, zum Beispiel mehrere eigene Wörter.',
    wrong:
      'Dieser Code ist ungültig. Vielleicht ist er falsch eingegeben, abgelaufen, schon verwendet oder durch einen neueren ersetzt. Verwenden Sie den Code aus der neuesten E-Mail, oder fordern Sie einen neuen an.',
    often: 'Zu viele Versuche. Bitte warten Sie {wait} und versuchen Sie es noch einmal.',
    failed:
      'Etwas ist schiefgegangen. Das liegt nicht an Ihnen. Ihr Code ist noch gültig: Bitte versuchen Sie es gleich noch einmal.',
    offline: 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  },
}

const [user, userId, code, password, hint, repeated] = [
  'user',
  'user-id',
  'code',
  'password',
  'password-hint',
  'repeated',
].map((id) => document.getElementById(id))

runFormPage({
  texts,
  begin(given, text) {
    Object.assign(hint.dataset, text.hints)
    userId.value = given.get('userId') ?? ''
    code.value = given.get('code') ?? ''
    user.hidden = userId.value !== ''
  },
  request() {
    if (password.value !== repeated.value) return { wrong: 'different', field: 'repeated' }
    const { length } = [...password.value]
    if (length < 8 || length > 200) return { wrong: 'short', field: 'password' }
    return {
      path: `/v2/users/${encodeURIComponent(userId.value.trim())}/password/_reset`,
      body: { verificationCode: code.value.trim(), newPassword: password.value },
    }
  },
  refused({ details = [] }) {
    const is = (expected) => details.some(({ reason }) => reason === expected)
    if (is('PASSWORD_TOO_COMMON') || is('PASSWORD_UNCHANGED')) return { wrong: 'common', field: 'password' }
    return is('VALIDATION_FAILED') ? { wrong: 'short', field: 'password' } : { wrong: 'wrong', field: 'code' }
  },
})
