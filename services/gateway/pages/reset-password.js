import { runFormPage } from './form-page.js'

const texts = {
  en: {
    title: 'Choose a new password',
    intro:
      'Check the code of the mail, and enter the new password twice. Wherever you are signed in, you will be signed out.',
    userId: 'User ID',
    userHint:
      'Your link is not complete: it should contain a user ID. Open the link of the mail again, or enter the ID here.',
    code: 'Code from the mail',
    password: 'New password',
    passwordHint: 'At least 8 characters. 15 or more are better.',
    hints: {
      short: 'Too short so far.',
      plain: 'Easy to guess so far. Use more different characters.',
      enough: 'Long enough. 15 or more characters are better.',
      good: 'A good length.',
    },
    show: 'Show',
    showPassword: 'Show password',
    showRepeated: 'Show repeated password',
    repeated: 'New password again',
    set: 'Set the password',
    working: 'One moment …',
    done: 'Your password is set',
    doneHint: 'You can close this page. Go back to your application, and sign in there with the new password.',
    different: 'The two passwords are not the same.',
    short: 'The password needs 8 to 200 characters.',
    common:
      'This password is one of those that are guessed first. Choose another one, such as several words of your own.',
    wrong:
      'This code does not work: it is mistyped, expired, already used, or replaced by a newer one. Use the code of the newest mail, or ask for a new one.',
    often: 'Too many tries. Please wait {wait} and try again.',
    failed: 'That did not work, and it is not your fault. Your code is still good: please try again in a moment.',
    offline: 'The service could not be reached. Check your connection and try again.',
  },
  de: {
    title: 'Neues Passwort wählen',
    intro:
      'Prüfen Sie den Code der Mail, und geben Sie das neue Passwort zweimal ein. Wo immer Sie angemeldet sind, werden Sie abgemeldet.',
    userId: 'Benutzer-ID',
    userHint:
      'Ihr Link ist nicht vollständig: Er sollte eine Benutzer-ID enthalten. Öffnen Sie den Link der Mail noch einmal, oder geben Sie die ID hier ein.',
    code: 'Code aus der Mail',
    password: 'Neues Passwort',
    passwordHint: 'Mindestens 8 Zeichen. 15 oder mehr sind besser.',
    hints: {
      short: 'Noch zu kurz.',
      plain: 'Noch leicht zu erraten. Nehmen Sie mehr verschiedene Zeichen.',
      enough: 'Lang genug. 15 oder mehr Zeichen sind besser.',
      good: 'Eine gute Länge.',
    },
    show: 'Anzeigen',
    showPassword: 'Passwort anzeigen',
    showRepeated: 'Wiederholtes Passwort anzeigen',
    repeated: 'Neues Passwort noch einmal',
    set: 'Passwort setzen',
    working: 'Einen Moment …',
    done: 'Ihr Passwort ist gesetzt',
    doneHint:
      'Sie können diese Seite schließen. Gehen Sie zurück zu Ihrer Anwendung, und melden Sie sich dort mit dem neuen Passwort an.',
    different: 'Die beiden Passwörter sind nicht gleich.',
    short: 'Das Passwort braucht 8 bis 200 Zeichen.',
    common:
      'Dieses Passwort gehört zu denen, die zuerst erraten werden. Wählen Sie ein anderes, etwa mehrere eigene Wörter.',
    wrong:
      'Dieser Code gilt nicht: Er ist vertippt, abgelaufen, schon benutzt oder durch einen neueren ersetzt. Nehmen Sie den Code der neuesten Mail, oder fordern Sie einen neuen an.',
    often: 'Zu viele Versuche. Bitte warten Sie {wait} und versuchen Sie es noch einmal.',
    failed:
      'Das ging schief, und es liegt nicht an Ihnen. Ihr Code gilt noch: Bitte versuchen Sie es gleich noch einmal.',
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
    if (is('PASSWORD_TOO_COMMON')) return { wrong: 'common', field: 'password' }
    return is('VALIDATION_FAILED') ? { wrong: 'short', field: 'password' } : { wrong: 'wrong', field: 'code' }
  },
})
