import { runFormPage } from './form-page.js'

const texts = {
  en: {
    title: 'Verify your email address',
    intro: 'Check the code and press the button. This confirms that the email reached you.',
    userId: 'User ID',
    userHint:
      'Your link is incomplete: the user ID is missing. Open the link in the email again, or enter the ID here.',
    code: 'Code from the email',
    verify: 'Verify my email address',
    working: 'One moment …',
    done: 'Your email address is verified',
    doneHint: 'You can close this page.',
    wrong:
      'This code does not work. It may be mistyped, expired, already used, or replaced by a newer one. Use the code from the latest email, or request a new one where you gave your address. If you used it yourself, your address is verified.',
    often: 'Too many attempts. Please wait {wait} and try again.',
    failed: 'Something went wrong. This is not your fault. Your code is still valid: please try again in a moment.',
    offline: 'We could not reach the service. Check your connection and try again; your code is still valid.',
  },
  de: {
    title: 'E-Mail-Adresse bestätigen',
    intro: 'Prüfen Sie den Code und klicken Sie auf die Schaltfläche. So wissen wir, dass die E-Mail Sie erreicht hat.',
    userId: 'Benutzer-ID',
    userHint:
      'Ihr Link ist unvollständig: Die Benutzer-ID fehlt. Öffnen Sie den Link in der E-Mail noch einmal, oder geben Sie die ID hier ein.',
    code: 'Code aus der E-Mail',
    verify: 'E-Mail-Adresse bestätigen',
    working: 'Einen Moment …',
    done: 'Ihre E-Mail-Adresse ist bestätigt',
    doneHint: 'Sie können diese Seite schließen.',
    wrong:
      'Dieser Code ist ungültig. Vielleicht ist er falsch eingegeben, abgelaufen, schon verwendet oder durch einen neueren ersetzt. Verwenden Sie den Code aus der neuesten E-Mail, oder fordern Sie dort einen neuen an, wo Sie Ihre Adresse angegeben haben. Wenn Sie ihn selbst verwendet haben, ist Ihre Adresse bestätigt.',
    often: 'Zu viele Versuche. Bitte warten Sie {wait} und versuchen Sie es noch einmal.',
    failed:
      'Etwas ist schiefgegangen. Das liegt nicht an Ihnen. Ihr Code ist noch gültig: Bitte versuchen Sie es gleich noch einmal.',
    offline:
      'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal; Ihr Code ist noch gültig.',
  },
}

const [user, userId, code] = ['user', 'user-id', 'code'].map((id) => document.getElementById(id))

runFormPage({
  texts,
  begin(given) {
    userId.value = given.get('userId') ?? ''
    code.value = given.get('code') ?? ''
    user.hidden = userId.value !== ''
  },
  request: () => ({
    path: `/v2/users/${encodeURIComponent(userId.value.trim())}/email/verify`,
    body: { verificationCode: code.value.trim() },
  }),
  refused: () => ({ wrong: 'wrong', field: 'code' }),
})
